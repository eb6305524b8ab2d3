package grader

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/podproof/podproof/grader/equal"
	"github.com/podproof/podproof/labs"
)

// resources judges requests, limits and what follows from them.
func (c *compiler) resources(m *labs.Resources) {
	if !c.on("resources", withPods()...) {
		return
	}
	for _, amounts := range []map[string]string{m.Requests, m.Limits, m.Effective, m.AtMost} {
		for _, name := range sortedKeys(amounts) {
			if _, err := resource.ParseQuantity(amounts[name]); err != nil {
				c.problem("resources: %s: %q is no quantity", name, amounts[name])
			}
		}
	}
	if (len(m.Requests) > 0 || len(m.Limits) > 0) && m.Container == "" {
		c.problem("resources: requests and limits are a container's: name it")
	}
	if len(m.Requests)+len(m.Limits)+len(m.Effective)+len(m.AtMost) == 0 && m.QoS == "" {
		c.problem("resources asks for nothing")
	}
	c.look(Declared, 0, func(s *scene) finding { return resourcesDeclared(s, m) })
	if m.QoS != "" {
		c.look(Reported, 0, func(s *scene) finding { return qos(s, m.QoS) })
	}
}

func resourcesDeclared(s *scene, m *labs.Resources) finding {
	if m.Container != "" {
		k, f := s.obj.pick(m.Container)
		if k.Container == nil {
			return f.doc(docResources)
		}
		path := s.obj.in(k.path()) + ".resources."
		if f := amounts(k.Name, path+"requests", m.Requests, k.Resources.Requests); !f.ok() {
			return f
		}
		if f := amounts(k.Name, path+"limits", m.Limits, k.Resources.Limits); !f.ok() {
			return f
		}
	}
	effective := resourcehelper.PodRequests(&corev1.Pod{Spec: s.obj.template.Spec}, resourcehelper.PodResourcesOptions{})
	for _, name := range sortedKeys(m.Effective) {
		got := effective[corev1.ResourceName(name)]
		want := resource.MustParse(m.Effective[name])
		if want.Cmp(got) != 0 {
			return fail(Msg("resources.effective", "resource", name, "expected", want.String(), "observed", got.String())).
				compared(want.String(), got.String()).why(Msg("resources.effective.why")).doc(docInit)
		}
	}
	for _, name := range sortedKeys(m.AtMost) {
		got := effective[corev1.ResourceName(name)]
		want := resource.MustParse(m.AtMost[name])
		if got.Cmp(want) > 0 {
			return fail(Msg("resources.tooMuch", "resource", name, "expected", want.String(), "observed", got.String())).
				compared("≤ "+want.String(), got.String()).why(Msg("resources.effective.why")).doc(docInit)
		}
	}
	return pass(Msg("resources.declared", "object", s.obj.String()))
}

func amounts(container, path string, want map[string]string, have corev1.ResourceList) finding {
	for _, name := range sortedKeys(want) {
		got, ok := have[corev1.ResourceName(name)]
		at := path + "." + name
		if !ok {
			return fail(Msg("resources.missing", "container", container, "path", at, "expected", want[name])).
				at(at).compared(want[name], unset).doc(docResources)
		}
		if d, err := equal.Quantity(want[name], got.String()); err != nil || !d.Equal {
			return fail(Msg("resources.differs", "container", container, "path", at, "expected", d.Want, "observed", d.Got)).
				at(at).compared(d.Want, d.Got).doc(docResources)
		}
	}
	return pass(Msg("resources.declared", "object", container))
}

func qos(s *scene, want string) finding {
	pod, f := s.pod()
	if pod == nil {
		return f
	}
	got := string(pod.Status.QOSClass)
	if got != want {
		return fail(Msg("resources.qos", "pod", pod.Name, "expected", want, "observed", got)).of("Pod/"+pod.Name).
			at("status.qosClass").compared(want, got).why(Msg("resources.qos.why")).doc(docQoS).settle()
	}
	return pass(Msg("resources.qosIs", "pod", pod.Name, "observed", got)).of("Pod/" + pod.Name).at("status.qosClass")
}
