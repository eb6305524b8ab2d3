package view

import (
	"net/url"
	"path"
	"strings"
)

// summary says in one sentence how the checks stand.
func summary(p Page, c Checks) string {
	if c.At == nil {
		return ""
	}
	parts := []string{p.T("checks.points", "earned", num(c.Earned), "total", num(c.Total))}
	for _, x := range []struct {
		v Verdict
		n int
	}{{Pass, c.Passed}, {Fail, c.Failed}, {Pending, c.Waiting}, {Error, c.Unknown}} {
		if x.n > 0 {
			parts = append(parts, p.T("verdict."+x.v.key())+": "+num(x.n))
		}
	}
	return strings.Join(parts, " · ")
}

// graded is the points to be had once there was a grading, or 0.
func (c Checks) graded() int {
	if c.At == nil {
		return 0
	}
	return c.Total
}

// docsName turns a documentation address into words: its last part.
func docsName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	name := path.Base(u.Path)
	if name == "/" || name == "." {
		return u.Host
	}
	if u.Fragment != "" {
		name += ": " + u.Fragment
	}
	return u.Host + " · " + strings.ReplaceAll(name, "-", " ")
}

// shellQuote quotes a path for bash where it needs to be.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%:,=", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Number writes n in digits.
func Number(n int) string { return num(n) }

// word names what is said of the check's verdict in the catalogue.
func (c Check) word() string {
	if c.Live {
		return "live." + c.Verdict.key()
	}
	return "verdict." + c.Verdict.key()
}

// icon is empty for what does not hold yet: only a grading calls it wrong.
func (c Check) icon() string {
	if c.Live && c.Verdict == Fail {
		return Verdict("").key()
	}
	return c.Verdict.key()
}
