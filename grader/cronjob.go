package grader

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podproof/podproof/grader/equal"
	"github.com/podproof/podproof/labs"
)

// cronJobSpec judges what a CronJob declares.
func (c *compiler) cronJobSpec(m *labs.CronJobSpec) {
	if !c.on("cronJobSpec", KindCronJob) {
		return
	}
	if m.Schedule != "" {
		w := equal.Schedule{Spec: m.Schedule, Zone: zone(m.TimeZone)}
		if _, err := equal.Cron(w, w); err != nil {
			c.problem("cronJobSpec: %w", err)
		}
	}
	if j := m.Job; j != nil && (j.Succeeded != nil || j.PeakActive != nil || j.Condition != "" || j.Lasts != 0) {
		c.problem("cronJobSpec.job judges no outcome: its Jobs come and go; use trial.run")
	}
	zoned := m.TimeZone != nil || !c.judged("spec.timeZone", func(m *labs.CronJobSpec) bool { return m.TimeZone != nil })
	c.look(Declared, 0, func(s *scene) finding { return cronDeclared(s, m, zoned) })
	if m.Schedule != "" && !c.judged("spec.suspend", func(m *labs.CronJobSpec) bool { return m.Suspend != nil }) {
		c.look(Declared, 0, notSuspended)
	}
	if m.ManualJob != "" {
		c.look(Reported, 0, func(s *scene) finding { return manualJob(s, m.ManualJob) })
	}
}

// judged reports whether a check on this CronJob judges a field, by its path or
// in cronJobSpec. Where one judges the time zone, a schedule is read in whatever
// zone it has, and where one judges suspend, it may be suspended. If none does,
// what nobody asked for makes the schedule fire at other times, or never.
func (c *compiler) judged(path string, asks func(*labs.CronJobSpec) bool) bool {
	return slices.ContainsFunc(c.all, func(k labs.Check) bool {
		if k.CronJob != c.ref.name {
			return false
		}
		byField := slices.ContainsFunc(k.Fields, func(f labs.Field) bool { return f.Path == path })
		return byField || k.CronJobSpec != nil && asks(k.CronJobSpec)
	})
}

func notSuspended(s *scene) finding {
	spec := &s.obj.value.(*batchv1.CronJob).Spec
	if spec.Suspend != nil && *spec.Suspend {
		return fail(Msg("cronjob.suspended", "cronjob", s.obj.name)).at("spec.suspend").
			compared("false", "true").doc(docCronJob)
	}
	return pass(Msg("cronjob.declared", "cronjob", s.obj.name)).at("spec")
}

// zone is a time zone's name; the controller runs in UTC.
func zone(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

func shownZone(name *string) string {
	if zone(name) == "" {
		return "UTC"
	}
	return *name
}

func cronDeclared(s *scene, m *labs.CronJobSpec, zoned bool) finding {
	spec := &s.obj.value.(*batchv1.CronJob).Spec
	if m.TimeZone != nil {
		// Two names of one zone fire a daily schedule at the same moments.
		const daily = "30 3 * * *"
		d, err := equal.Cron(equal.Schedule{Spec: daily, Zone: zone(m.TimeZone)}, equal.Schedule{Spec: daily, Zone: zone(spec.TimeZone)})
		if err != nil || !d.Equal {
			return fail(Msg("cronjob.timeZone", "expected", shownZone(m.TimeZone), "observed", shownZone(spec.TimeZone))).
				at("spec.timeZone").compared(shownZone(m.TimeZone), shownZone(spec.TimeZone)).
				why(Msg("cronjob.timeZone.why")).doc(docCronJob)
		}
	}
	if m.Schedule != "" {
		if f := schedule(m, spec, zoned); !f.ok() {
			return f
		}
	}
	if f := word(s, "spec", "concurrencyPolicy", m.ConcurrencyPolicy, concurrency(spec)); !f.ok() {
		return f.why(Msg("cronjob.concurrency.why")).doc(docCronJob)
	}
	for _, n := range []struct {
		field     string
		want, got *int64
	}{
		{"startingDeadlineSeconds", m.StartingDeadlineSeconds, spec.StartingDeadlineSeconds},
		{"successfulJobsHistoryLimit", wide(m.SuccessfulJobsHistoryLimit), orDefault(wide(spec.SuccessfulJobsHistoryLimit), 3)},
		{"failedJobsHistoryLimit", wide(m.FailedJobsHistoryLimit), orDefault(wide(spec.FailedJobsHistoryLimit), 1)},
	} {
		f := number(s, "spec", n.field, n.want, n.got)
		if f.ok() {
			continue
		}
		if n.field == "startingDeadlineSeconds" && n.got == nil {
			f = startingElsewhere(s, *n.want, f)
		}
		return f.doc(docCronJob)
	}
	if m.Suspend != nil {
		got := spec.Suspend != nil && *spec.Suspend
		if got != *m.Suspend {
			f := fail(Msg("field.differs", "path", "spec.suspend", "expected", text(*m.Suspend), "observed", text(got))).
				at("spec.suspend").compared(text(*m.Suspend), text(got)).doc(docCronJob)
			return misplaced(s.obj, []segment{{name: "suspend"}}, []any{*m.Suspend}, f)
		}
	}
	if m.Job != nil {
		if f := jobDeclared(s, m.Job); !f.ok() {
			return f
		}
	}
	return pass(Msg("cronjob.declared", "cronjob", s.obj.name)).at("spec")
}

func schedule(m *labs.CronJobSpec, spec *batchv1.CronJobSpec, zoned bool) finding {
	want := equal.Schedule{Spec: m.Schedule, Zone: zone(m.TimeZone)}
	got := equal.Schedule{Spec: spec.Schedule, Zone: zone(spec.TimeZone)}
	if !zoned {
		want.Zone = got.Zone
	}
	d, err := equal.Cron(want, got)
	if err == nil && d.Equal {
		return pass(Msg("field.equal", "path", "spec.schedule", "observed", spec.Schedule))
	}
	// Where the text is right, the zone is what differs.
	same, err := equal.Cron(want, equal.Schedule{Spec: spec.Schedule, Zone: want.Zone})
	if err == nil && same.Equal {
		return fail(Msg("cronjob.timeZone", "expected", shownZone(m.TimeZone), "observed", shownZone(spec.TimeZone))).
			at("spec.timeZone").compared(shownZone(m.TimeZone), shownZone(spec.TimeZone)).
			why(Msg("cronjob.timeZone.why")).doc(docCronJob)
	}
	return fail(Msg("cronjob.schedule", "expected", m.Schedule, "observed", spec.Schedule)).
		at("spec.schedule").compared(m.Schedule, spec.Schedule).
		why(Msg("cronjob.schedule.why")).doc(docCronJob)
}

func concurrency(spec *batchv1.CronJobSpec) string {
	if spec.ConcurrencyPolicy == "" {
		return string(batchv1.AllowConcurrent)
	}
	return string(spec.ConcurrencyPolicy)
}

func orDefault(n *int64, value int64) *int64 {
	if n == nil {
		return &value
	}
	return n
}

// startingElsewhere: the other deadline carries the wanted number.
func startingElsewhere(s *scene, want int64, f finding) finding {
	for _, p := range findField(s.obj, "activeDeadlineSeconds") {
		if text(p.value) == itoa(want) {
			return fail(Msg("field.mistaken", "expected", f.Path, "found", p.path)).at(f.Path).
				compared(f.Expected, f.Observed).why(Msg("cronjob.deadlines.why"))
		}
	}
	return f
}

// manualJob: a Job of this name was made from the CronJob. kubectl notes the
// CronJob as an owner that is not the controller.
func manualJob(s *scene, name string) finding {
	job := s.find(ref{KindJob, name})
	if job == nil {
		var found []string
		for _, j := range s.jobsOf(s.obj) {
			found = append(found, j.Name)
		}
		return fail(Msg("cronjob.noManualJob", "job", name, "cronjob", s.obj.name, "found", listed(found))).
			compared(name, listed(found)).doc(docCronJob).ranked(Declared).settle()
	}
	from := slices.ContainsFunc(job.meta.OwnerReferences, func(r metav1.OwnerReference) bool {
		return r.Kind == string(KindCronJob) && r.Name == s.obj.name
	})
	if !from {
		return fail(Msg("cronjob.notFrom", "job", name, "cronjob", s.obj.name)).of("Job/" + name).
			at("metadata.ownerReferences").doc(docCronJob).ranked(Declared).settle()
	}
	return pass(Msg("cronjob.manualJob", "job", name, "cronjob", s.obj.name)).of("Job/" + name)
}
