package grader

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/grader/equal"
	"github.com/podproof/podproof/labs"
)

// ephemeral: one of the Pod's ephemeral containers is as asked. They can be
// neither removed nor changed, so the best one counts and its name does not.
func (c *compiler) ephemeral(m *labs.Ephemeral) {
	if !c.on("ephemeral", KindPod) {
		return
	}
	c.checkImage("ephemeral", m.Image)
	c.look(Reported, 0, func(s *scene) finding {
		pod, ok := s.obj.value.(*corev1.Pod)
		if !ok || len(pod.Spec.EphemeralContainers) == 0 {
			return fail(Msg("ephemeral.none", "pod", s.obj.name)).at("spec.ephemeralContainers").
				why(Msg("ephemeral.none.why")).doc(docEphemeral).ranked(Declared)
		}
		var best finding
		for i := range pod.Spec.EphemeralContainers {
			f := ephemeralFits(pod, &pod.Spec.EphemeralContainers[i], m)
			if f.ok() {
				return f
			}
			if best.Verdict != Pending {
				best = f
			}
		}
		return best
	})
}

func ephemeralFits(pod *corev1.Pod, e *corev1.EphemeralContainer, m *labs.Ephemeral) finding {
	path := "spec.ephemeralContainers[" + e.Name + "]"
	if m.Target != "" && e.TargetContainerName != m.Target {
		got := e.TargetContainerName
		if got == "" {
			got = unset
		}
		return fail(Msg("ephemeral.target", "container", e.Name, "expected", m.Target, "observed", got)).
			at(path+".targetContainerName").compared(m.Target, got).why(Msg("ephemeral.target.why")).doc(docEphemeral)
	}
	if m.Image != "" {
		if d, err := equal.Image(m.Image, e.Image); err != nil || !d.Equal {
			return fail(Msg("image.differs", "container", e.Name, "expected", d.Want, "observed", d.Got)).
				at(path+".image").compared(d.Want, d.Got).doc(docEphemeral)
		}
	}
	st := status(pod, e.Name)
	if st == nil || startOf(st) == nil {
		if st != nil {
			return *explain(pod, st)
		}
		return *at(pod, pending(Msg("container.creating", "container", e.Name, "pod", pod.Name)), pod.CreationTimestamp)
	}
	return pass(Msg("ephemeral.found", "container", e.Name, "pod", pod.Name)).at(path)
}
