package labs

import (
	"reflect"
	"strings"
	"time"
)

// lintChecks reports checks that can't be met and checks that prove nothing.
func (l *linter) lintChecks() {
	for i, c := range l.inst.Checks {
		here := []any{"checks", i}
		l.lintTimes(here, reflect.ValueOf(c))
		l.lintDeadlines(here, c)
		if !c.Default {
			l.lintDefaults(here, c)
		}
		for _, m := range []struct {
			key string
			*Match
		}{{"exec", match(c.Exec)}, {"http", match(c.HTTP)}, {"logs", match(c.Logs)}} {
			if m.Match != nil && m.key != "http" && reflect.ValueOf(*m.Match).IsZero() && (c.Exec == nil || c.Exec.ExitCode == 0 && m.key == "logs") {
				l.reportAt(append(here, m.key), "%s judges nothing: give contains, lines, matches, absent or equals", m.key)
			}
		}
		if c.Exec != nil && strings.Contains(" "+strings.Join(c.Exec.Command, " "), " nslookup ") {
			l.reportAt(append(here, "exec", "command"), "nslookup and dig are unreliable as waits: use wget or nc -z")
		}
		if c.NativeSidecar != nil {
			l.lintCheckImage(append(here, "nativeSidecar", "image"), c.NativeSidecar.Image)
		}
		if c.Sidecar != nil {
			l.lintCheckImage(append(here, "sidecar", "image"), c.Sidecar.Image)
		}
	}
}

func (l *linter) lintCheckImage(where []any, image string) {
	if image != "" {
		n := at(l.task.doc.root, where...)
		l.lintImage("task.yaml", n.Line, n.Column, image)
	}
}

// maxWithin is as long as a learner can be asked to wait for a verdict.
const maxWithin = 5 * time.Minute

// lintTimes reports time spans below v that nobody can wait for.
func (l *linter) lintTimes(here []any, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for _, m := range fieldsOf(v) {
		f := v.FieldByIndex(m.index)
		where := append(append([]any{}, here...), m.name)
		if f.Type() != durationType {
			l.lintTimes(where, f)
			continue
		}
		switch d := time.Duration(f.Int()); {
		case d > maxWithin:
			l.reportAt(where, "%s is too long to wait for: at most %s", d, maxWithin)
		case d < time.Second:
			l.reportAt(where, "%s is too short: Kubernetes counts in seconds", d)
		}
	}
}

// lintDeadlines reports time spans that contradict each other.
func (l *linter) lintDeadlines(here []any, c Check) {
	if s := c.Status; s != nil && s.Within != 0 && s.StableFor > s.Within {
		l.reportAt(append(here, "status", "within"), "nothing can be stable for %s within %s", s.StableFor, s.Within)
	}
	if t := c.Termination; t != nil && t.Grace != nil && t.AtMost != 0 && time.Duration(t.AtMost) > time.Duration(*t.Grace+30)*time.Second {
		l.reportAt(append(here, "termination", "atMost"), "%s proves nothing: the grace period ends after %ds", t.AtMost, *t.Grace)
	}
	job := func(j *JobSpec, where []any) {
		if j == nil || j.ActiveDeadlineSeconds == nil || j.Reason != "DeadlineExceeded" || j.Within == 0 {
			return
		}
		if deadline := time.Duration(*j.ActiveDeadlineSeconds) * time.Second; time.Duration(j.Within) <= deadline {
			l.reportAt(append(where, "within"), "the deadline of %s passes after these %s", deadline, j.Within)
		}
	}
	job(c.JobSpec, append(here, "jobSpec"))
	if cj := c.CronJobSpec; cj != nil {
		job(cj.Job, append(here, "cronJobSpec", "job"))
		if s := cj.StartingDeadlineSeconds; s != nil && *s < 10 {
			l.reportAt(append(here, "cronJobSpec", "startingDeadlineSeconds"),
				"a starting deadline under 10 s may never be met: the controller looks every 10 s")
		}
	}
}

// lintDefaults reports values that leaving the field out gives too.
func (l *linter) lintDefaults(here []any, c Check) {
	report := func(value any, where ...any) {
		l.reportAt(append(append([]any{}, here...), where...),
			"%v is the default: leaving the field out passes too; say default: true if that is meant", value)
	}
	job := func(j *JobSpec, where ...any) {
		if j == nil {
			return
		}
		at := func(key string) []any { return append(append([]any{}, where...), key) }
		if is(j.BackoffLimit, 6) {
			report(6, at("backoffLimit")...)
		}
		if is(j.Parallelism, 1) {
			report(1, at("parallelism")...)
		}
		if is(j.Completions, 1) && (j.Parallelism == nil || *j.Parallelism == 1) {
			report(1, at("completions")...)
		}
		if j.CompletionMode == "NonIndexed" {
			report(j.CompletionMode, at("completionMode")...)
		}
	}
	job(c.JobSpec, "jobSpec")
	if cj := c.CronJobSpec; cj != nil {
		job(cj.Job, "cronJobSpec", "job")
		if cj.ConcurrencyPolicy == "Allow" {
			report("Allow", "cronJobSpec", "concurrencyPolicy")
		}
		if is(cj.SuccessfulJobsHistoryLimit, 3) {
			report(3, "cronJobSpec", "successfulJobsHistoryLimit")
		}
		if is(cj.FailedJobsHistoryLimit, 1) {
			report(1, "cronJobSpec", "failedJobsHistoryLimit")
		}
		if cj.Suspend != nil && !*cj.Suspend {
			report(false, "cronJobSpec", "suspend")
		}
	}
	if t := c.Termination; t != nil && is(t.Grace, 30) {
		report(30, "termination", "grace")
	}
	for i, f := range c.Fields {
		last := f.Path[strings.LastIndex(f.Path, ".")+1:]
		if def, ok := defaults()[last]; ok && f.Equals == def {
			report(def, "fields", i, "equals")
		}
	}
}

func is[T int32 | int64](p *T, want T) bool { return p != nil && *p == want }

// defaults are what the API puts into fields that are left out, by the last
// part of their path.
func defaults() map[string]any {
	return map[string]any{
		"terminationGracePeriodSeconds": int64(30), "imagePullPolicy": "IfNotPresent", "dnsPolicy": "ClusterFirst",
		"backoffLimit": int64(6), "parallelism": int64(1), "concurrencyPolicy": "Allow", "suspend": false,
		"successfulJobsHistoryLimit": int64(3), "failedJobsHistoryLimit": int64(1), "completionMode": "NonIndexed",
		"replicas": int64(1), "protocol": "TCP", "shareProcessNamespace": false, "revisionHistoryLimit": int64(10),
	}
}
