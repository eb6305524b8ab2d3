package grader

import (
	"regexp"
	"strings"

	"github.com/podproof/podproof/labs"
)

// checkMatch reports a match that asks for nothing or cannot be read. required
// says whether the matcher is nothing without it.
func (c *compiler) checkMatch(matcher string, m *labs.Match, required bool) {
	if required && m.Contains == "" && len(m.Lines) == 0 && m.Matches == "" && m.Absent == "" && m.Equals == nil {
		c.problem("%s: give contains, lines, matches, absent or equals", matcher)
	}
	if m.Matches != "" {
		if _, err := regexp.Compile(strings.ReplaceAll(m.Matches, "{{nonce}}", "0")); err != nil {
			c.problem("%s.matches: %w", matcher, err)
		}
	}
}

// mismatch says what is wrong with a text, or "" where all holds: what was
// expected of it, and which message tells it.
type mismatch struct {
	expected string
	kind     mismatchKind
}

type mismatchKind int

const (
	fits mismatchKind = iota
	lacksPart
	lacksLine
	lacksPattern
	hasForbidden
	notEqual
)

// judge tells how a text fails a match.
func (s *scene) judge(m *labs.Match, got string) mismatch {
	if want := s.fill(m.Contains); want != "" && !strings.Contains(got, want) {
		return mismatch{want, lacksPart}
	}
	if missing := missingLine(got, m.Lines, s.fill); missing != "" {
		return mismatch{missing, lacksLine}
	}
	if m.Matches != "" {
		// Compiling the check has shown that it can be read.
		if re, err := regexp.Compile(s.fill(m.Matches)); err != nil || !re.MatchString(got) {
			return mismatch{s.fill(m.Matches), lacksPattern}
		}
	}
	if bad := s.fill(m.Absent); bad != "" && strings.Contains(got, bad) {
		return mismatch{bad, hasForbidden}
	}
	if m.Equals != nil && strings.TrimSpace(got) != strings.TrimSpace(s.fill(*m.Equals)) {
		return mismatch{s.fill(*m.Equals), notEqual}
	}
	return mismatch{}
}

// missingLine returns the first of the lines that the text lacks, in order.
func missingLine(text string, lines []string, fill func(string) string) string {
	if len(lines) == 0 {
		return ""
	}
	have := strings.Split(text, "\n")
	for _, want := range lines {
		want = strings.TrimRight(fill(want), " \t\r")
		found := false
		for i, line := range have {
			if strings.TrimRight(line, " \t\r") == want {
				have, found = have[i+1:], true
				break
			}
		}
		if !found {
			return want
		}
	}
	return ""
}

// output tells a mismatch of what a command wrote.
func (d mismatch) output(container, command string) Message {
	switch d.kind {
	case lacksLine:
		return Msg("exec.lacksLine", "container", container, "command", command, "expected", d.expected)
	case hasForbidden:
		return Msg("exec.forbidden", "container", container, "command", command, "found", d.expected)
	case notEqual:
		return Msg("exec.notEqual", "container", container, "command", command, "expected", d.expected)
	case lacksPattern:
		return Msg("exec.lacksPattern", "container", container, "command", command, "expected", d.expected)
	default:
		return Msg("exec.lacks", "container", container, "command", command, "expected", d.expected)
	}
}

// body tells a mismatch of an HTTP answer.
func (d mismatch) body(url string) Message {
	switch d.kind {
	case lacksLine:
		return Msg("http.lacksLine", "url", url, "expected", d.expected)
	case hasForbidden:
		return Msg("http.forbidden", "url", url, "found", d.expected)
	case notEqual:
		return Msg("http.notEqual", "url", url, "expected", d.expected)
	case lacksPattern:
		return Msg("http.lacksPattern", "url", url, "expected", d.expected)
	default:
		return Msg("http.lacks", "url", url, "expected", d.expected)
	}
}

// log tells a mismatch of what a container logged.
func (d mismatch) log(container, pod string) Message {
	switch d.kind {
	case lacksLine:
		return Msg("logs.lacksLine", "container", container, "pod", pod, "expected", d.expected)
	case hasForbidden:
		return Msg("logs.forbidden", "container", container, "pod", pod, "found", d.expected)
	case notEqual:
		return Msg("logs.notEqual", "container", container, "pod", pod, "expected", d.expected)
	case lacksPattern:
		return Msg("logs.lacksPattern", "container", container, "pod", pod, "expected", d.expected)
	default:
		return Msg("logs.lacks", "container", container, "pod", pod, "expected", d.expected)
	}
}
