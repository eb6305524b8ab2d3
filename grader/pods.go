package grader

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stable is how long something must stay well to count as well.
const stable = 3 * time.Second

// longRun: a run at least so long was healthy; its end says little of the next.
const longRun = time.Minute

// pod returns the Pod to judge the subject by: the Pod itself or, of a
// controller's Pods, the one that came furthest. Without one it says why.
func (s *scene) pod() (*corev1.Pod, finding) {
	pods := s.pods(s.obj)
	if len(pods) == 0 {
		return nil, pending(Msg("pods.none", "object", s.obj.String())).
			ranked(Reported).began(s.obj.meta.CreationTimestamp.Time)
	}
	best := slices.MaxFunc(pods, func(a, b *corev1.Pod) int {
		if d := standing(a) - standing(b); d != 0 {
			return d
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return best, finding{}
}

// standing orders Pods by how far they came.
func standing(p *corev1.Pod) int {
	switch {
	case p.DeletionTimestamp != nil:
		return 0
	case p.Status.Phase == corev1.PodFailed:
		return 1
	case p.Status.Phase == corev1.PodSucceeded:
		return 5
	case podReady(p):
		return 4
	case p.Status.Phase == corev1.PodRunning:
		return 3
	default:
		return 2
	}
}

// steady says why a container does not run steadily: nil where it has run for
// a while and, after a crash, for longer than it did before that.
func (s *scene) steady(pod *corev1.Pod, name string, least time.Duration) *finding {
	if f := running(pod, name); f != nil {
		return f
	}
	st := status(pod, name)
	need := least
	last := st.LastTerminationState.Terminated
	if last != nil {
		if run := last.FinishedAt.Sub(last.StartedAt.Time); run >= 0 && run < longRun {
			need += run
		}
	}
	began := st.State.Running.StartedAt.Time
	if s.lasted("running "+string(pod.UID)+name+strconv.Itoa(int(st.RestartCount)), began) >= need {
		return nil
	}
	if last != nil {
		return at(pod, pending(Msg("container.restarted", "container", name, "pod", pod.Name,
			"restarts", itoa(st.RestartCount), "code", exitCode(last))).
			why(Msg("container.restarted.why")).doc(docDebugPods), pod.CreationTimestamp)
	}
	f := pending(Msg("container.settling", "container", name, "pod", pod.Name, "for", need.String()))
	return at(pod, f, st.State.Running.StartedAt)
}

// lasted is how long a state has held by the snapshot's clock. Where the
// clocks of node and server disagree so far that it would start in the future,
// it is how long this evaluation has seen it.
func (s *scene) lasted(state string, began time.Time) time.Duration {
	if d := s.Taken.Sub(began); d >= 0 {
		return d
	}
	return time.Since(s.since(state))
}
