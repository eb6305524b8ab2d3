package grader

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// maxLogged bounds how many of a controller's Pods are read; newest first.
const maxLogged = 20

// logs judges what a container wrote: in the Pod, or in enough of a
// controller's Pods.
func (c *compiler) logs(m *labs.Logs) {
	if !c.on("logs", withPods()...) {
		return
	}
	c.checkMatch("logs", &m.Match, true)
	c.probe(m.Within, func(ctx context.Context, s *scene) (finding, error) { return judgeLogs(ctx, s, m) })
}

func judgeLogs(ctx context.Context, s *scene, m *labs.Logs) (finding, error) {
	k, f := s.obj.pick(m.Container)
	if k.Container == nil {
		return f, nil
	}
	pods := s.pods(s.obj)
	if len(pods) == 0 {
		_, f := s.pod()
		return f, nil
	}
	pods = slices.Clone(pods)
	slices.Reverse(pods)
	if len(pods) > maxLogged {
		pods = pods[:maxLogged]
	}
	need := max(m.Pods, 1)
	found := 0
	var worst finding
	over := true // every Pod has said all that it will say
	for _, pod := range pods {
		f, err := podLogs(ctx, s, m, pod, k.Name)
		if err != nil {
			return finding{}, err
		}
		if f.ok() {
			if found++; found >= need {
				return f, nil
			}
			continue
		}
		over = over && f.settled
		if worst.Verdict == "" {
			worst = f
		}
	}
	worst.settled = over && (s.obj.kind == KindPod || controllerDone(s.obj))
	if need > 1 {
		some := fail(Msg("logs.fewPods", "container", k.Name, "expected", itoa(need), "observed", itoa(found), "wanted", worst.Expected)).
			of(s.obj.String()).compared(itoa(need), itoa(found)).show(worst.Excerpt)
		some.settled = worst.settled
		return some, nil
	}
	return worst, nil
}

func podLogs(ctx context.Context, s *scene, m *labs.Logs, pod *corev1.Pod, container string) (finding, error) {
	st := status(pod, container)
	if m.Previous && (st == nil || st.RestartCount == 0) {
		return *at(pod, pending(Msg("logs.noPrevious", "container", container, "pod", pod.Name)), pod.CreationTimestamp), nil
	}
	if st == nil || (st.State.Waiting != nil && st.LastTerminationState.Terminated == nil) {
		// It has written nothing yet.
		if f := running(pod, container); f != nil {
			return *f, nil
		}
	}
	wrote, err := s.cluster.Logs(ctx, podRef(pod), container, m.Previous, maxLog)
	if err != nil {
		return finding{}, err
	}
	object := "Pod/" + pod.Name
	d := s.judge(&m.Match, wrote)
	if d.kind == fits {
		return pass(Msg("logs.passed", "container", container)).of(object).show(wrote), nil
	}
	f := fail(d.log(container, pod.Name)).of(object).compared(d.expected, lastLine(wrote)).show(wrote)
	if wrote == "" {
		f = f.why(Msg("logs.empty.why", "container", container)).compared(d.expected, unset)
	}
	// What a log holds stays there, and what is over writes no more.
	f.settled = d.kind == hasForbidden || finished(pod) ||
		(st != nil && st.State.Terminated != nil && succeeded(st) && neverAgain(pod, container))
	return f, nil
}

// neverAgain reports whether a container that succeeded will not run again.
func neverAgain(pod *corev1.Pod, container string) bool {
	k, ok := containerNamed(&pod.Spec, container)
	return ok && (k.plainInit() || pod.Spec.RestartPolicy != corev1.RestartPolicyAlways && !k.native())
}

func lastLine(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '\n' {
			return line(s[i+1:])
		}
	}
	return line(s)
}
