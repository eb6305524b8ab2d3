package grader

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// jobSpec judges what a Job, or a CronJob's jobTemplate, declares and what
// came of it.
func (c *compiler) jobSpec(m *labs.JobSpec) {
	if !c.on("jobSpec", KindJob, KindCronJob) {
		return
	}
	happened := m.Succeeded != nil || m.PeakActive != nil || m.Condition != "" || m.Lasts != 0
	if m.Reason != "" && m.Condition == "" {
		c.problem("jobSpec.reason needs a condition")
	}
	if happened && c.ref.kind == KindCronJob {
		c.problem("jobSpec of a cronJob judges no outcome: its Jobs come and go; use trial.run")
		return
	}
	if declares(m) {
		c.look(Declared, 0, func(s *scene) finding { return jobDeclared(s, m) })
	}
	if happened {
		c.look(Reported, m.Within, func(s *scene) finding { return jobHappened(s, m) })
		c.steps[len(c.steps)-1].past = func(s *scene) finding { return jobRemembered(s, m) }
	}
}

func declares(m *labs.JobSpec) bool {
	return m.Completions != nil || m.Parallelism != nil || m.BackoffLimit != nil || m.ActiveDeadlineSeconds != nil ||
		m.TTLSecondsAfterFinished != nil || m.CompletionMode != "" || m.RestartPolicy != ""
}

func jobDeclared(s *scene, m *labs.JobSpec) finding {
	spec, at := s.obj.job()
	completions, parallelism := wide(spec.Completions), wide(spec.Parallelism)
	one := int64(1)
	if completions == nil && parallelism == nil {
		completions = &one
	}
	if parallelism == nil {
		parallelism = &one
	}
	if m.Completions != nil && completions == nil {
		return fail(Msg("job.workQueue", "expected", itoa(*m.Completions), "parallelism", itoa(*parallelism))).
			at(at+".completions").compared(itoa(*m.Completions), unset).
			why(Msg("job.workQueue.why")).doc(docJob)
	}
	backoff := wide(spec.BackoffLimit)
	if backoff == nil {
		six := int64(6)
		backoff = &six
	}
	for _, n := range []struct {
		field     string
		want, got *int64
	}{
		{"completions", wide(m.Completions), completions},
		{"parallelism", wide(m.Parallelism), parallelism},
		{"backoffLimit", wide(m.BackoffLimit), backoff},
		{"activeDeadlineSeconds", m.ActiveDeadlineSeconds, spec.ActiveDeadlineSeconds},
		{"ttlSecondsAfterFinished", wide(m.TTLSecondsAfterFinished), wide(spec.TTLSecondsAfterFinished)},
	} {
		if f := number(s, at, n.field, n.want, n.got); !f.ok() {
			return f.doc(docJob)
		}
	}
	mode := batchv1.NonIndexedCompletion
	if spec.CompletionMode != nil {
		mode = *spec.CompletionMode
	}
	if f := word(s, at, "completionMode", m.CompletionMode, string(mode)); !f.ok() {
		return f.doc(docJob)
	}
	if f := restartPolicy(s, at+".template.spec", corev1.RestartPolicy(m.RestartPolicy), &spec.Template.Spec); !f.ok() {
		return f.doc(docJob)
	}
	return pass(Msg("job.declared", "object", s.obj.String())).at(at)
}

// restartPolicy compares what rules the ordinary containers of a Pod: each has
// the Pod's policy unless it brings one of its own, and rules on exit codes may
// restart one whose policy is Never.
func restartPolicy(s *scene, parent string, want corev1.RestartPolicy, spec *corev1.PodSpec) finding {
	owned := 0
	for i := range spec.Containers {
		c := &spec.Containers[i]
		path := parent + ".containers[" + c.Name + "]"
		if c.RestartPolicy == nil {
			continue
		}
		owned++
		if want != "" && string(*c.RestartPolicy) != string(want) {
			return fail(Msg("field.differs", "path", path+".restartPolicy", "expected", string(want), "observed", string(*c.RestartPolicy))).
				at(path+".restartPolicy").compared(string(want), string(*c.RestartPolicy)).why(Msg("depth.restartPolicy.container"))
		}
		if want == corev1.RestartPolicyNever && len(c.RestartPolicyRules) > 0 {
			return fail(Msg("job.restartRules", "container", c.Name)).at(path+".restartPolicyRules").
				compared(string(want), "restartPolicyRules")
		}
	}
	if owned > 0 && owned == len(spec.Containers) {
		return pass(Msg("field.equal", "path", parent+".containers.restartPolicy", "observed", string(want)))
	}
	return word(s, parent, "restartPolicy", string(want), string(spec.RestartPolicy))
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	w := int64(*n)
	return &w
}

// number compares a field that holds a number; a nil want asks for nothing.
func number(s *scene, parent, field string, want, got *int64) finding {
	path := parent + "." + field
	if want == nil || got != nil && *want == *got {
		return pass(Msg("field.equal", "path", path, "observed", optional(got)))
	}
	return unequal(s, path, field, *want, itoa(*want), optional(got))
}

// word compares a field that holds a word; an empty want asks for nothing.
func word(s *scene, parent, field, want, got string) finding {
	path := parent + "." + field
	if want == "" || want == got {
		return pass(Msg("field.equal", "path", path, "observed", got))
	}
	if got == "" {
		got = unset
	}
	return unequal(s, path, field, want, want, got)
}

func unequal(s *scene, path, field string, wanted any, want, got string) finding {
	f := fail(Msg("field.differs", "path", path, "expected", want, "observed", got))
	if got == unset {
		f = fail(Msg("field.missing", "path", path, "expected", want))
	}
	return misplaced(s.obj, []segment{{name: field}}, []any{wanted}, f.at(path).compared(want, got))
}

func jobCondition(j *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if c := &j.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// controllerDone reports whether a controller will run no more Pods.
func controllerDone(o *object) bool {
	j, ok := o.value.(*batchv1.Job)
	return ok && (jobCondition(j, batchv1.JobComplete) != nil || jobCondition(j, batchv1.JobFailed) != nil)
}

func jobHappened(s *scene, m *labs.JobSpec) finding {
	job := s.obj.value.(*batchv1.Job)
	object := s.obj.String()
	done := controllerDone(s.obj)
	if m.Condition != "" {
		if f := jobEnded(s, job, m); !f.ok() {
			return f.of(object)
		}
	}
	if m.Succeeded != nil && job.Status.Succeeded < *m.Succeeded {
		f := jobProgress(s, job)
		if done || f.Verdict == Pending {
			f = pending(Msg("job.succeeded", "job", job.Name, "expected", itoa(*m.Succeeded), "observed", itoa(job.Status.Succeeded))).
				began(jobStart(job))
		}
		f = f.compared(itoa(*m.Succeeded), itoa(job.Status.Succeeded)).doc(docJob).of(object)
		if done {
			f.Verdict, f.settled = Fail, true
		}
		return f
	}
	if m.Lasts != 0 {
		if f := worked(s, job, time.Duration(m.Lasts)); !f.ok() {
			return f.of(object)
		}
	}
	if m.PeakActive != nil {
		peak := peakOf(s.runs("Job/"+job.Name, string(job.UID), s.pods(s.obj)))
		if peak < int(*m.PeakActive) {
			f := pending(Msg("job.peak", "job", job.Name, "expected", itoa(*m.PeakActive), "observed", itoa(peak))).
				compared(itoa(*m.PeakActive), itoa(peak)).doc(docJob).of(object).began(jobStart(job))
			if done {
				f.Verdict, f.settled = Fail, true
				if s.forgotten(job) {
					// Pods are gone that nobody watched: that is no proof against the answer.
					f = fault(Msg("job.unseen", "job", job.Name)).ranked(Reported).settle()
				}
			}
			return f
		}
	}
	return pass(Msg("job.happened", "job", job.Name, "succeeded", itoa(job.Status.Succeeded))).of(object)
}

// worked judges how long the Pods that succeeded have worked. The API tells
// whole seconds, and on a busy machine it notes a start late: the longest counts.
func worked(s *scene, job *batchv1.Job, want time.Duration) finding {
	seen, longest := "", time.Duration(0)
	for _, pod := range s.pods(s.obj) {
		if pod.Status.Phase != corev1.PodSucceeded {
			continue
		}
		seen = pod.Name
		for i := range pod.Status.ContainerStatuses {
			if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil {
				longest = max(longest, t.FinishedAt.Sub(t.StartedAt.Time))
			}
		}
	}
	if seen != "" && longest < want {
		return fail(Msg("job.brief", "pod", seen, "expected", want.String())).
			compared(want.String(), longest.String()).settle().doc(docJob)
	}
	if seen == "" {
		f := jobProgress(s, job)
		if controllerDone(s.obj) {
			// Its Pods are gone, or none succeeded: other checks judge that.
			f = fault(Msg("job.removed", "job", job.Name)).ranked(Reported).settle()
			if job.Status.Succeeded == 0 {
				f = fail(Msg("job.succeeded", "job", job.Name, "expected", "1", "observed", "0")).settle()
			}
		}
		return f.doc(docJob)
	}
	return pass(Msg("job.happened", "job", job.Name, "succeeded", itoa(job.Status.Succeeded)))
}

// forgotten reports whether fewer Pods are known than the Job says it ran.
func (s *scene) forgotten(job *batchv1.Job) bool {
	known := len(s.runs("Job/"+job.Name, string(job.UID), s.pods(s.obj)))
	return known < int(job.Status.Succeeded+job.Status.Failed)
}

func jobStart(j *batchv1.Job) time.Time {
	if j.Status.StartTime != nil {
		return j.Status.StartTime.Time
	}
	return j.CreationTimestamp.Time
}

// jobEnded judges the condition that the Job must have reached.
func jobEnded(s *scene, job *batchv1.Job, m *labs.JobSpec) finding {
	want := batchv1.JobConditionType(m.Condition)
	got := jobCondition(job, want)
	if got == nil {
		other := batchv1.JobFailed
		if want == batchv1.JobFailed {
			other = batchv1.JobComplete
		}
		if c := jobCondition(job, other); c != nil {
			return fail(Msg("job.ended", "job", job.Name, "expected", string(want), "observed", string(other),
				"reason", c.Reason, "message", c.Message)).
				compared(string(want), string(other)+" "+c.Reason).settle().doc(docJob)
		}
		f := jobProgress(s, job)
		return f.compared(string(want), "").doc(docJob)
	}
	if m.Reason != "" && got.Reason != m.Reason {
		return fail(Msg("job.reason", "job", job.Name, "expected", m.Reason, "observed", got.Reason)).
			compared(m.Reason, got.Reason).settle().doc(docJob)
	}
	return pass(Msg("job.happened", "job", job.Name, "succeeded", itoa(job.Status.Succeeded)))
}

// jobProgress says what a Job that has not ended waits for.
func jobProgress(s *scene, job *batchv1.Job) finding {
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return fail(Msg("job.suspended", "job", job.Name)).settle()
	}
	for _, pod := range s.pods(s.obj) {
		if finished(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		if f := keptAlive(pod); f != nil {
			return *f
		}
		for i := range pod.Spec.Containers {
			if f := running(pod, pod.Spec.Containers[i].Name); f != nil && f.Verdict == Fail {
				// A failed Pod is replaced: what looks like an end here is not one.
				f.settled = f.settled && f.Reason.ID == "container.image"
				return *f
			}
		}
	}
	done := optional(job.Spec.Completions)
	return pending(Msg("job.running", "job", job.Name, "succeeded", itoa(job.Status.Succeeded),
		"completions", done, "active", itoa(job.Status.Active))).began(jobStart(job))
}

// keptAlive: the first container did its work, but another one goes on.
func keptAlive(pod *corev1.Pod) *finding {
	var over, still string
	var since time.Time
	for i := range pod.Spec.Containers {
		st := status(pod, pod.Spec.Containers[i].Name)
		switch {
		case st == nil:
		case succeeded(st):
			over, since = st.Name, st.State.Terminated.FinishedAt.Time
		case st.State.Running != nil:
			still = st.Name
		}
	}
	if over == "" || still == "" {
		return nil
	}
	f := pending(Msg("job.keptAlive", "done", over, "container", still, "pod", pod.Name)).
		why(Msg("job.keptAlive.why")).doc(docSidecar).began(since)
	return &f
}
