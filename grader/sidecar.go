package grader

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// nativeSidecar: the container stands in initContainers with restartPolicy
// Always, runs, and started before the init containers that need it.
func (c *compiler) nativeSidecar(m *labs.NativeSidecar) {
	if !c.on("nativeSidecar", withPods()...) {
		return
	}
	c.look(Declared, 0, func(s *scene) finding { return nativeDeclared(s, m) })
	c.look(Reported, 0, func(s *scene) finding { return helperRuns(s, m.Container, m.Before) })
}

func nativeDeclared(s *scene, m *labs.NativeSidecar) finding {
	k, f := s.obj.pick(m.Container)
	if k.Container == nil {
		return f.doc(docSidecar)
	}
	path := s.obj.in(k.path())
	switch {
	case k.list != initList:
		return fail(Msg("sidecar.notNative", "container", m.Container, "list", string(k.list))).
			at(path).compared("initContainers", string(k.list)).
			why(Msg("sidecar.notNative.why")).doc(docSidecar)
	case !k.native():
		return fail(Msg("sidecar.plainInit", "container", m.Container)).
			at(path+".restartPolicy").compared("Always", policyOf(k.Container)).
			why(Msg("sidecar.plainInit.why")).doc(docSidecar)
	}
	if f := imageOf(s, k, m.Image); !f.ok() {
		return f
	}
	for _, name := range m.Before {
		later, f := s.obj.pick(name)
		if later.Container == nil {
			return f
		}
		if later.list == initList && later.index < k.index {
			return fail(Msg("sidecar.late", "container", m.Container, "init", name)).
				at(s.obj.in("spec.initContainers")).
				compared(m.Container+" → "+name, name+" → "+m.Container).
				why(Msg("sidecar.late.why")).doc(docSidecar)
		}
	}
	declared := map[string]*corev1.Probe{
		"startup": k.StartupProbe, "readiness": k.ReadinessProbe, "liveness": k.LivenessProbe,
	}
	if m.Probe != "" && declared[m.Probe] == nil {
		var have []string
		for _, p := range sortedKeys(declared) {
			if declared[p] != nil {
				have = append(have, p+"Probe")
			}
		}
		return fail(Msg("sidecar.noProbe", "container", m.Container, "probe", m.Probe+"Probe", "found", listed(have))).
			at(path).compared(m.Probe+"Probe", listed(have)).doc(docProbes)
	}
	return pass(Msg("sidecar.native", "container", m.Container)).at(path)
}

func policyOf(c *corev1.Container) string {
	if c.RestartPolicy == nil {
		return unset
	}
	return string(*c.RestartPolicy)
}

// helperRuns: the sidecar runs steadily, or ended with a Pod that is over, and
// the init containers in before started after it.
func helperRuns(s *scene, name string, before []string) finding {
	pod, f := s.pod()
	if pod == nil {
		return f
	}
	st := status(pod, name)
	over := finished(pod) && st != nil && ended(st) != nil
	if !over {
		if f := s.steady(pod, name, stable); f != nil {
			return f.doc(docSidecar)
		}
	}
	for _, later := range before {
		if f := startedAfter(pod, name, later); f != nil {
			return *f
		}
	}
	return pass(Msg("sidecar.runs", "container", name)).of("Pod/" + pod.Name)
}

// startedAfter says why later did not start after the sidecar; whole seconds
// that are equal leave it to the kubelet's rule, which is that order.
func startedAfter(pod *corev1.Pod, sidecar, later string) *finding {
	first, then := startOf(status(pod, sidecar)), startOf(status(pod, later))
	if then == nil {
		return at(pod, pending(Msg("container.creating", "container", later, "pod", pod.Name)), lastMove(pod))
	}
	// A restarted sidecar started again later; its first start is not known here.
	if first == nil || status(pod, sidecar).RestartCount > 0 || !then.Before(first) {
		return nil
	}
	return at(pod, fail(Msg("sidecar.late", "container", sidecar, "init", later)).
		compared(sidecar+" → "+later, later+" → "+sidecar).
		why(Msg("sidecar.late.why")).doc(docSidecar), pod.CreationTimestamp)
}

// sidecar: a helper container beside the main one, native or not.
func (c *compiler) sidecar(m *labs.Sidecar) {
	if !c.on("sidecar", withPods()...) {
		return
	}
	c.look(Declared, 0, func(s *scene) finding { return sidecarDeclared(s, m) })
	c.look(Reported, 0, func(s *scene) finding { return helperRuns(s, m.Container, nil) })
}

func sidecarDeclared(s *scene, m *labs.Sidecar) finding {
	k, f := s.obj.pick(m.Container)
	if k.Container == nil {
		return f.doc(docSidecar)
	}
	path := s.obj.in(k.path())
	switch {
	case k.plainInit():
		return fail(Msg("sidecar.isInit", "container", m.Container)).at(path).
			why(Msg("sidecar.plainInit.why")).doc(docSidecar)
	case k.list == ephemeralList:
		return fail(Msg("sidecar.isEphemeral", "container", m.Container)).at(path).doc(docSidecar)
	case k.native() && m.Native == "forbidden":
		return fail(Msg("sidecar.nativeForbidden", "container", m.Container)).
			at(path).compared("containers", "initContainers").doc(docSidecar)
	case k.list == mainList && len(s.obj.template.Spec.Containers) < 2:
		return fail(Msg("sidecar.alone", "container", m.Container)).at(s.obj.in("spec.containers"))
	}
	if f := imageOf(s, k, m.Image); !f.ok() {
		return f
	}
	return pass(Msg("sidecar.declared", "container", m.Container, "list", string(k.list))).at(path)
}
