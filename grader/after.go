package grader

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// placeAfter places a copy in which further commands run right after init
// containers; without any, a plain copy. The finding fails for an init
// container that the Pod does not have.
func (b *bench) placeAfter(ctx context.Context, s *scene, after map[string][]string) (ref, finding, error) {
	fine := pass(Msg("init.declared"))
	if len(after) == 0 {
		r, err := b.place(ctx, s)
		return r, fine, err
	}
	pod := copyPod(s.obj.value.(*corev1.Pod))
	for _, name := range sortedKeys(after) {
		i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
		if i < 0 {
			k, f := s.obj.pick(name)
			if k.Container != nil {
				f = fail(Msg("init.notInit", "container", name, "list", string(k.list))).why(Msg("init.notInit.why"))
			}
			return ref{}, f.settle().doc(docInit), nil
		}
		pod.Spec.InitContainers = slices.Insert(pod.Spec.InitContainers, i+1, s.following(&pod.Spec.InitContainers[i], after[name]))
	}
	if err := b.scratch.CopyNeeds(ctx, s.Namespace, &pod.Spec); err != nil {
		return ref{}, finding{}, err
	}
	_, err := b.scratch.CreatePod(ctx, pod)
	return s.obj.ref, fine, err
}

// following is a plain init container that sees what c sees.
func (s *scene) following(c *corev1.Container, command []string) corev1.Container {
	next := *c.DeepCopy()
	next.Name = c.Name + "-after"
	next.Command, next.Args = nil, nil
	for _, word := range command {
		next.Command = append(next.Command, s.fill(word))
	}
	next.RestartPolicy, next.RestartPolicyRules = nil, nil
	next.StartupProbe, next.ReadinessProbe, next.LivenessProbe, next.Lifecycle = nil, nil, nil, nil
	next.Ports = nil
	return next
}
