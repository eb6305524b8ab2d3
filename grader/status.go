package grader

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/podproof/podproof/labs"
)

// status judges what Kubernetes reports of the subject.
func (c *compiler) status(m *labs.Status) {
	if !c.on("status", KindPod, KindDeployment, KindJob, KindService) {
		return
	}
	if m.Endpoints != nil && c.ref.kind != KindService {
		c.problem("status.endpoints is about a service")
	}
	if m.Replicas != nil && c.ref.kind != KindDeployment {
		c.problem("status.replicas is about a deployment")
	}
	c.look(Reported, m.Within, func(s *scene) finding {
		switch v := s.obj.value.(type) {
		case *appsv1.Deployment:
			if f := deploymentStatus(s, m, v); !f.ok() {
				return f
			}
		case *corev1.Service:
			return endpoints(s, m)
		}
		return podStatus(s, m)
	})
}

func podStatus(s *scene, m *labs.Status) finding {
	pod, f := s.pod()
	if pod == nil {
		return f
	}
	if m.Phase != "" && string(pod.Status.Phase) != m.Phase {
		return wrongPhase(pod, m.Phase)
	}
	for _, name := range sortedKeys(m.Containers) {
		if f := containerState(pod, name, m.Containers[name]); !f.ok() {
			return f
		}
	}
	if f := restarts(pod, m); !f.ok() {
		return f
	}
	if m.Ready != nil {
		if f := readiness(s, m, pod); !f.ok() {
			return f
		}
	} else if m.Phase == string(corev1.PodRunning) && len(m.Containers) == 0 && m.MinRestarts == nil {
		// The phase stays Running through a crash loop: the containers tell.
		for i := range pod.Spec.Containers {
			if f := s.steady(pod, pod.Spec.Containers[i].Name, time.Duration(m.StableFor)); f != nil {
				return *f
			}
		}
	}
	return *at(pod, pass(Msg("status.passed", "object", s.obj.String(), "state", stateOf(pod))), pod.CreationTimestamp)
}

func stateOf(pod *corev1.Pod) string {
	if podReady(pod) {
		return "Ready"
	}
	return string(pod.Status.Phase)
}

func wrongPhase(pod *corev1.Pod, want string) finding {
	got := string(pod.Status.Phase)
	if f := blocked(pod); f != nil && want != got {
		return f.compared(want, got)
	}
	// What keeps the Pod from its phase explains more than the phase.
	if want == string(corev1.PodRunning) || want == string(corev1.PodSucceeded) {
		if f := initProgress(pod, len(pod.Spec.InitContainers)); f != nil {
			return f.compared(want, got)
		}
		for i := range pod.Status.ContainerStatuses {
			st := &pod.Status.ContainerStatuses[i]
			if st.State.Waiting != nil {
				if f := explain(pod, st); f.Verdict == Fail {
					return f.compared(want, got)
				}
			}
		}
	}
	f := pending(Msg("status.phase", "pod", pod.Name, "expected", want, "observed", got)).compared(want, got)
	if finished(pod) {
		f.Verdict = Fail
		f.settled = true
		for i := range pod.Status.ContainerStatuses {
			if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.ExitCode != 0 {
				f = f.why(Msg("status.exitCode.why", "container", pod.Status.ContainerStatuses[i].Name, "code", exitCode(t)))
				break
			}
		}
	}
	return at(pod, f.doc(docLifecycle), pod.CreationTimestamp).doc(docLifecycle)
}

func containerState(pod *corev1.Pod, name string, want labs.ContainerStatus) finding {
	st := status(pod, name)
	if st == nil {
		if _, ok := containerNamed(&pod.Spec, name); !ok {
			return fail(Msg("container.missing", "container", name, "object", "Pod/"+pod.Name,
				"found", quoteList(containerNames(&pod.Spec)))).settle()
		}
		return *at(pod, pending(Msg("container.creating", "container", name, "pod", pod.Name)), lastMove(pod))
	}
	state, reason, code := described(st)
	got := strings.TrimSpace(state + " " + reason)
	wanted := strings.TrimSpace(want.State + " " + want.Reason)
	if want.ExitCode != nil {
		wanted += " (" + itoa(*want.ExitCode) + ")"
	}
	if code != "" {
		got += " (" + code + ")"
	}
	ok := (want.State == "" || want.State == state) &&
		(want.Reason == "" || want.Reason == reason) &&
		(want.ExitCode == nil || code == itoa(*want.ExitCode)) &&
		(want.Started == nil || *want.Started == (st.Started != nil && *st.Started))
	if ok {
		return pass(Msg("status.container", "container", name, "state", got))
	}
	if want.Started != nil && *want.Started && state == "running" {
		return *at(pod, pending(Msg("sidecar.starting", "container", name, "pod", pod.Name)), st.State.Running.StartedAt)
	}
	f := pending(Msg("status.state", "container", name, "expected", strings.TrimSpace(wanted), "observed", got)).
		compared(strings.TrimSpace(wanted), got)
	if finished(pod) || (state == "terminated" && neverAgain(pod, name)) {
		f.Verdict = Fail
		f.settled = true
	}
	return *at(pod, f, pod.CreationTimestamp)
}

// described is a container's state as the API spells it, with its reason and exit code.
func described(st *corev1.ContainerStatus) (state, reason, code string) {
	switch {
	case st.State.Running != nil:
		return "running", "", ""
	case st.State.Terminated != nil:
		return "terminated", st.State.Terminated.Reason, exitCode(st.State.Terminated)
	case st.State.Waiting != nil:
		return "waiting", st.State.Waiting.Reason, ""
	default:
		return "waiting", "", ""
	}
}

func restarts(pod *corev1.Pod, m *labs.Status) finding {
	most, by := int32(0), ""
	for _, l := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range l {
			if l[i].RestartCount > most {
				most, by = l[i].RestartCount, l[i].Name
			}
		}
	}
	if m.MaxRestarts != nil && most > *m.MaxRestarts {
		return *at(pod, fail(Msg("status.restarts", "container", by, "observed", itoa(most), "expected", itoa(*m.MaxRestarts))).
			compared("≤ "+itoa(*m.MaxRestarts), itoa(most)).
			why(Msg("status.restarts.why")).doc(docDebugPods).settle(), pod.CreationTimestamp)
	}
	if m.MinRestarts != nil && most < *m.MinRestarts {
		return *at(pod, pending(Msg("status.noRestart", "pod", pod.Name, "observed", itoa(most), "expected", itoa(*m.MinRestarts))).
			compared("≥ "+itoa(*m.MinRestarts), itoa(most)), pod.CreationTimestamp)
	}
	return pass(Msg("status.passed", "object", "Pod/"+pod.Name, "state", stateOf(pod)))
}

func readiness(s *scene, m *labs.Status, pod *corev1.Pod) finding {
	need := time.Duration(m.StableFor)
	if need == 0 {
		need = stable
	}
	c := condition(pod, corev1.PodReady)
	ready := podReady(pod)
	if !*m.Ready {
		if !ready {
			return pass(Msg("status.notReady", "pod", pod.Name))
		}
		return *at(pod, fail(Msg("status.readyButNot", "pod", pod.Name)).compared("Ready=False", "Ready=True"), c.LastTransitionTime)
	}
	if !ready {
		return notReady(pod)
	}
	if s.lasted("ready "+string(pod.UID)+c.LastTransitionTime.String(), c.LastTransitionTime.Time) < need {
		return *at(pod, pending(Msg("status.settling", "pod", pod.Name, "for", need.String())), c.LastTransitionTime)
	}
	for i := range pod.Spec.Containers {
		if f := s.steady(pod, pod.Spec.Containers[i].Name, need); f != nil {
			return *f
		}
	}
	return pass(Msg("status.passed", "object", "Pod/"+pod.Name, "state", "Ready"))
}

// notReady explains a Pod that is not Ready by what keeps it from that.
func notReady(pod *corev1.Pod) finding {
	for i := range pod.Spec.Containers {
		if f := running(pod, pod.Spec.Containers[i].Name); f != nil {
			if f.Verdict == Pending && finished(pod) {
				f.Verdict, f.settled = Fail, true
			}
			return f.compared("Ready", string(pod.Status.Phase))
		}
	}
	var waiting []string
	for _, l := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range l {
			if l[i].State.Running != nil && !l[i].Ready {
				waiting = append(waiting, l[i].Name)
			}
		}
	}
	began := pod.CreationTimestamp
	if c := condition(pod, corev1.PodReady); c != nil && c.LastTransitionTime.After(began.Time) {
		began = c.LastTransitionTime
	}
	return *at(pod, pending(Msg("status.unready", "pod", pod.Name, "containers", quoteList(waiting))).
		compared("Ready=True", "Ready=False").why(Msg("status.unready.why")).doc(docProbes), began)
}

func deploymentStatus(s *scene, m *labs.Status, d *appsv1.Deployment) finding {
	began := d.CreationTimestamp.Time
	if m.Replicas != nil && d.Status.ReadyReplicas < *m.Replicas {
		f := pending(Msg("status.replicas", "deployment", d.Name,
			"expected", itoa(*m.Replicas), "observed", itoa(d.Status.ReadyReplicas))).
			compared(itoa(*m.Replicas), itoa(d.Status.ReadyReplicas)).of(s.obj.String()).began(began)
		if pod, _ := s.pod(); pod != nil && !podReady(pod) {
			if g := notReady(pod); g.Verdict == Fail {
				return g
			}
		}
		return f
	}
	if m.Ready != nil && *m.Ready && d.Status.ObservedGeneration < d.Generation {
		return pending(Msg("status.rolling", "deployment", d.Name)).of(s.obj.String()).began(began)
	}
	return pass(Msg("status.passed", "object", s.obj.String(), "state", "Available"))
}

// endpoints counts a Service's ready addresses.
func endpoints(s *scene, m *labs.Status) finding {
	ready := map[string]bool{}
	for i := range s.EndpointSlices {
		slice := &s.EndpointSlices[i]
		if slice.Labels[discoveryv1.LabelServiceName] != s.obj.name {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				for _, a := range e.Addresses {
					ready[a] = true
				}
			}
		}
	}
	n := int32(len(ready))
	if m.Endpoints != nil && n < *m.Endpoints {
		f := pending(Msg("status.endpoints", "service", s.obj.name, "expected", itoa(*m.Endpoints), "observed", itoa(n))).
			compared(itoa(*m.Endpoints), itoa(n)).of(s.obj.String()).began(s.obj.meta.CreationTimestamp.Time)
		if len(s.pods(s.obj)) == 0 {
			f.Verdict = Fail
			f = f.why(Msg("status.noBackends.why"))
		}
		return f
	}
	return pass(Msg("status.endpointsReady", "service", s.obj.name, "observed", itoa(n))).of(s.obj.String())
}
