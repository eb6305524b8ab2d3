package grader

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// initOrder: the containers are plain init containers, stand in this order in
// the list, and ran in it. Others may stand between them.
func (c *compiler) initOrder(m *labs.InitOrder) {
	if !c.on("initOrder", withPods()...) {
		return
	}
	if len(m.Containers) == 0 {
		c.problem("initOrder names no containers")
	}
	c.look(Declared, 0, func(s *scene) finding { return initDeclared(s, m.Containers) })
	c.look(Reported, 0, func(s *scene) finding { return initHappened(s, m.Containers) })
}

func initDeclared(s *scene, names []string) finding {
	want := strings.Join(names, " → ")
	last := -1
	inOrder := true
	for _, name := range names {
		k, f := s.obj.pick(name)
		if k.Container == nil {
			return f.doc(docInit)
		}
		switch {
		case k.list != initList:
			return fail(Msg("init.notInit", "container", name, "list", string(k.list))).
				at(s.obj.in(k.path())).compared("initContainers", string(k.list)).
				why(Msg("init.notInit.why")).doc(docInit)
		case k.native():
			return fail(Msg("init.isSidecar", "container", name)).
				at(s.obj.in(k.path()) + ".restartPolicy").
				why(Msg("init.isSidecar.why")).doc(docSidecar)
		}
		inOrder = inOrder && k.index > last
		last = k.index
	}
	if !inOrder {
		var got []string
		for i := range s.obj.template.Spec.InitContainers {
			got = append(got, s.obj.template.Spec.InitContainers[i].Name)
		}
		return fail(Msg("init.order", "expected", want, "observed", strings.Join(got, " → "))).
			at(s.obj.in("spec.initContainers")).compared(want, strings.Join(got, " → ")).
			why(Msg("init.order.why")).doc(docInit)
	}
	return pass(Msg("init.declared")).compared(want, want)
}

func initHappened(s *scene, names []string) finding {
	pod, f := s.pod()
	if pod == nil {
		return f
	}
	for _, name := range names {
		if st := status(pod, name); st == nil || !succeeded(st) {
			if f := blocked(pod); f != nil {
				return *f
			}
			if f := initProgress(pod, len(pod.Spec.InitContainers)); f != nil {
				return f.doc(docInit)
			}
			return *at(pod, pending(Msg("container.creating", "container", name, "pod", pod.Name)), lastMove(pod))
		}
	}
	var told []string
	var previous *corev1.ContainerStateTerminated
	for i, name := range names {
		t := ended(status(pod, name))
		told = append(told, fmt.Sprintf("%s  %s – %s", name, clock(t.StartedAt.Time), clock(t.FinishedAt.Time)))
		// The API's times have whole seconds. Within the same second the kubelet's
		// rule decides: the next one starts only after the one before succeeded.
		if previous != nil && t.StartedAt.Time.Before(previous.FinishedAt.Time) {
			return *at(pod, fail(Msg("init.overlap", "container", name, "before", names[i-1])).
				show(strings.Join(told, "\n")).doc(docInit), pod.CreationTimestamp)
		}
		previous = t
	}
	order := strings.Join(names, " → ")
	return pass(Msg("init.ran", "order", order)).of("Pod/"+pod.Name).
		compared(order, order).show(strings.Join(told, "\n"))
}

// ended returns how a container's last finished run ended, or nil.
func ended(st *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if st.State.Terminated != nil {
		return st.State.Terminated
	}
	return st.LastTerminationState.Terminated
}

func succeeded(st *corev1.ContainerStatus) bool {
	return st.State.Terminated != nil && st.State.Terminated.ExitCode == 0
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05") }
