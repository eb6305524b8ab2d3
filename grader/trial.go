package grader

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// trialLimit bounds a trial that gives no time of its own.
const trialLimit = 90 * time.Second

// logTime is how long a copy that runs may take to write what it should.
const logTime = 10 * time.Second

// trialPause paces the looks at a copy.
const trialPause = 300 * time.Millisecond

// bench is one trial: a scratch namespace, seen through a scene of its own.
type bench struct {
	*scene
	scratch Scratch
}

// inScratch runs an experiment in a namespace of its own, which it removes.
func (s *scene) inScratch(ctx context.Context, within labs.Duration, experiment func(context.Context, *bench) (finding, error)) (finding, error) {
	limit := time.Duration(within)
	if limit == 0 {
		limit = trialLimit
	}
	scratch, err := s.cluster.Scratch(ctx)
	if err != nil {
		return finding{}, err
	}
	// What a failed removal leaves behind is swept up at the next start; it says
	// nothing of the answer.
	defer func() { _ = scratch.Close() }()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b := &bench{scratch: scratch, scene: &scene{
		check: s.check, nonce: s.nonce, since: s.trialSince(), cluster: newRecorder(scratch),
	}}
	f, err := experiment(limited, b)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fault(Msg("trial.timeout", "within", limit.String())).ranked(Tried), nil
	}
	return f.ranked(Tried), err
}

// trialSince is a clock of a trial's own: trials run beside each other.
func (s *scene) trialSince() func(string) time.Time {
	seen := map[string]time.Time{}
	return func(state string) time.Time {
		if _, ok := seen[state]; !ok {
			seen[state] = time.Now()
		}
		return seen[state]
	}
}

// await looks at the scratch namespace until judge is content or sure, and
// returns its last finding. Time that runs out is no error: a copy that came
// nowhere gives Error, one that ran and did not get there Fail.
func (b *bench) await(ctx context.Context, r ref, judge func() finding) (finding, error) {
	var last finding
	kinds := kindsFor(r.kind)
	for {
		snap, err := b.scratch.Snapshot(ctx, b.scratch.Namespace(), kinds)
		if err == nil {
			b.Snapshot = snap
			if b.obj = snap.find(r); b.obj != nil {
				if last = judge(); last.ok() || last.settled {
					return last, nil
				}
			}
		} else if ctx.Err() == nil {
			return finding{}, err
		}
		select {
		case <-ctx.Done():
			return late(ctx, last)
		case <-time.After(trialPause):
		}
	}
}

// late is the finding of a trial whose time is up.
func late(ctx context.Context, last finding) (finding, error) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return finding{}, ctx.Err()
	}
	switch last.Reason.ID {
	case "", "pod.unschedulable", "container.creating", "pods.none":
		// It never got to run: that is the cluster's doing.
		return finding{}, ctx.Err()
	}
	if last.Verdict == Pending {
		last.Verdict = Fail
		if last.Because == nil {
			last = last.why(Msg("trial.timeUp"))
		}
	}
	return last, nil
}

// trial is an experiment on a copy of the subject.
func (c *compiler) trial(m *labs.Trial) {
	given := 0
	for _, has := range []bool{m.Run != nil, m.FailInit != "", m.Kill != "", m.Delete} {
		if has {
			given++
		}
	}
	if given != 1 {
		c.problem("trial: give exactly one of run, failInit, kill and delete")
		return
	}
	var experiment func(context.Context, *scene, *bench) (finding, error)
	switch {
	case m.Run != nil:
		if !c.on("trial.run", withPods()...) {
			return
		}
		if len(m.Run.After) > 0 && c.ref.kind != KindPod {
			c.problem("trial.run.after is about a pod")
		}
		if m.Run.Logs != nil {
			c.checkMatch("trial.run.logs", &m.Run.Logs.Match, true)
		}
		experiment = func(ctx context.Context, s *scene, b *bench) (finding, error) { return runCopy(ctx, s, b, m.Run) }
	case m.FailInit != "":
		if !c.on("trial.failInit", KindPod) {
			return
		}
		experiment = func(ctx context.Context, s *scene, b *bench) (finding, error) { return failInit(ctx, s, b, m.FailInit) }
	case m.Kill != "":
		if !c.on("trial.kill", KindPod) {
			return
		}
		experiment = func(ctx context.Context, s *scene, b *bench) (finding, error) { return kill(ctx, s, b, m.Kill) }
	default:
		if !c.on("trial.delete", KindDeployment) {
			return
		}
		experiment = deletePods
	}
	c.try("trial", func(ctx context.Context, s *scene) (finding, error) {
		return s.inScratch(ctx, m.Within, func(ctx context.Context, b *bench) (finding, error) {
			return experiment(ctx, s, b)
		})
	})
}

// place puts a copy of the subject, and what it needs, into the scratch namespace.
func (b *bench) place(ctx context.Context, s *scene) (ref, error) {
	o := s.obj
	if err := b.scratch.CopyNeeds(ctx, s.Namespace, &o.template.Spec); err != nil {
		return ref{}, err
	}
	switch v := o.value.(type) {
	case *corev1.Pod:
		_, err := b.scratch.CreatePod(ctx, copyPod(v))
		return o.ref, err
	case *appsv1.Deployment:
		_, err := b.scratch.CreateDeployment(ctx, copyDeployment(v))
		return o.ref, err
	default:
		spec, _ := o.job()
		job := copyJob(o.name, o.meta, spec)
		if o.kind == KindJob {
			// The copy shows what the Job will do. What a CronJob makes stays as it makes it.
			job.Spec.Suspend = nil
		}
		_, err := b.scratch.CreateJob(ctx, job)
		return ref{KindJob, o.name}, err
	}
}

// runCopy: the copy runs to its end or, where it has none, until it is ready.
func runCopy(ctx context.Context, s *scene, b *bench, m *labs.TrialRun) (finding, error) {
	r, f, err := b.placeAfter(ctx, s, m.After)
	if err != nil || !f.ok() {
		return f, err
	}
	f, err = b.await(ctx, r, func() finding { return b.outcome(m) })
	if err != nil || !f.ok() {
		return b.withLog(ctx, f), err
	}
	if m.Logs == nil {
		return pass(Msg("trial.ran", "object", s.obj.String())), nil
	}
	// A copy that goes on running may not have written it yet.
	for until := time.Now().Add(logTime); ; {
		f, err = judgeLogs(ctx, b.scene, m.Logs)
		if err != nil && ctx.Err() == nil {
			return f, err
		}
		if f.ok() || f.settled || controllerDone(b.obj) || time.Now().After(until) || sleep(ctx, trialPause) != nil {
			break
		}
		if again, err := b.await(ctx, r, func() finding { return b.outcome(m) }); err != nil || !again.ok() {
			break
		}
	}
	if f.Verdict == "" {
		return finding{}, ctx.Err()
	}
	if !f.ok() {
		for _, name := range sortedKeys(m.After) {
			f = f.why(Msg("trial.after.why", "container", name))
		}
		return f, nil
	}
	return pass(Msg("trial.ran", "object", s.obj.String())).show(f.Excerpt), nil
}

func (b *bench) outcome(m *labs.TrialRun) finding {
	if b.obj.kind == KindJob {
		want := m.Condition
		if want == "" {
			want = "Complete"
		}
		return jobHappened(b.scene, &labs.JobSpec{Condition: want, Reason: m.Reason})
	}
	yes := true
	p, isPod := b.obj.value.(*corev1.Pod)
	if isPod && len(m.After) > 0 && p.Status.Phase != corev1.PodSucceeded {
		return podStatus(b.scene, &labs.Status{Ready: &yes}) // it is its log that counts
	}
	if isPod && p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		return podStatus(b.scene, &labs.Status{Phase: string(corev1.PodSucceeded)})
	}
	if d, ok := b.obj.value.(*appsv1.Deployment); ok {
		n := int32(1)
		return deploymentStatus(b.scene, &labs.Status{Ready: &yes, Replicas: &n}, d)
	}
	return podStatus(b.scene, &labs.Status{Ready: &yes})
}

// withLog adds the end of the copy's log to a failed run: there it says why.
func (b *bench) withLog(ctx context.Context, f finding) finding {
	if f.Verdict != Fail || b.obj == nil || f.Excerpt != "" {
		return f
	}
	pod, _ := b.pod()
	if pod == nil {
		return f
	}
	// Only a help to the reader: without it the finding stands as well.
	wrote, err := b.cluster.Logs(ctx, podRef(pod), pod.Spec.Containers[0].Name, false, maxExcerpt)
	if err != nil || strings.TrimSpace(wrote) == "" {
		return f
	}
	return f.show(wrote)
}

// failInit: with an init container that fails, no main container may start.
func failInit(ctx context.Context, s *scene, b *bench, name string) (finding, error) {
	pod := copyPod(s.obj.value.(*corev1.Pod))
	i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return fail(Msg("init.notInit", "container", name, "list", "containers")).settle().doc(docInit), nil
	}
	pod.Spec.InitContainers[i].Command = []string{"sh", "-c", "exit 1"}
	pod.Spec.InitContainers[i].Args = nil
	if err := b.scratch.CopyNeeds(ctx, s.Namespace, &pod.Spec); err != nil {
		return finding{}, err
	}
	if _, err := b.scratch.CreatePod(ctx, pod); err != nil {
		return finding{}, err
	}
	return b.await(ctx, s.obj.ref, func() finding {
		copied := b.obj.value.(*corev1.Pod)
		for j := range copied.Spec.Containers {
			if startOf(status(copied, copied.Spec.Containers[j].Name)) != nil {
				return fail(Msg("trial.startedAnyway", "container", copied.Spec.Containers[j].Name, "init", name)).settle()
			}
		}
		st := status(copied, name)
		if st != nil && ended(st) != nil && ended(st).ExitCode != 0 && time.Since(b.since("init failed")) >= stable {
			return pass(Msg("trial.initHeld", "init", name))
		}
		return pending(Msg("container.creating", "container", name, "pod", copied.Name))
	})
}

// kill: a container whose process ends is started again.
func kill(ctx context.Context, s *scene, b *bench, name string) (finding, error) {
	r, err := b.place(ctx, s)
	if err != nil {
		return finding{}, err
	}
	up := func() finding {
		if f := running(b.obj.value.(*corev1.Pod), name); f != nil {
			return *f
		}
		return pass(Msg("sidecar.runs", "container", name))
	}
	if f, err := b.await(ctx, r, up); err != nil || !f.ok() {
		return f, err
	}
	before := status(b.obj.value.(*corev1.Pod), name).RestartCount
	// Process 1 gets only the signals that it handles, so its children are ended as well.
	// The command often dies with the container: what it answers tells nothing.
	_, _ = b.cluster.Exec(ctx, podRef(b.obj.value.(*corev1.Pod)), name,
		[]string{"sh", "-c", "kill -TERM 1; sleep 1; kill -INT 1; sleep 1; kill -KILL -1"})
	f, err := b.await(ctx, r, func() finding {
		pod := b.obj.value.(*corev1.Pod)
		st := status(pod, name)
		switch {
		case st != nil && st.RestartCount > before && st.State.Running != nil:
			return pass(Msg("trial.cameBack", "container", name))
		case st != nil && st.State.Terminated != nil:
			return pending(Msg("trial.stayedDown", "container", name, "code", exitCode(st.State.Terminated)))
		default:
			return pending(Msg("trial.notKilled", "container", name))
		}
	})
	if err == nil && f.Reason.ID == "trial.notKilled" {
		f.Verdict = Error // the experiment did not come about
	}
	return f, err
}

// deletePods: what a Deployment loses, it makes anew.
func deletePods(ctx context.Context, s *scene, b *bench) (finding, error) {
	r, err := b.place(ctx, s)
	if err != nil {
		return finding{}, err
	}
	yes, one := true, int32(1)
	ready := func() finding {
		return deploymentStatus(b.scene, &labs.Status{Ready: &yes, Replicas: &one}, b.obj.value.(*appsv1.Deployment))
	}
	if f, err := b.await(ctx, r, ready); err != nil || !f.ok() {
		return f, err
	}
	old := map[string]bool{}
	for _, pod := range b.pods(b.obj) {
		old[string(pod.UID)] = true
		if err := b.scratch.DeletePod(ctx, pod.Name); err != nil {
			return finding{}, err
		}
	}
	return b.await(ctx, r, func() finding {
		for _, pod := range b.pods(b.obj) {
			if !old[string(pod.UID)] && podReady(pod) {
				return pass(Msg("trial.replaced", "object", s.obj.String()))
			}
		}
		return pending(Msg("trial.notReplaced", "object", s.obj.String()))
	})
}
