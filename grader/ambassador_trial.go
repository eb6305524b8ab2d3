package grader

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// copiesLimit bounds both copies together.
const copiesLimit = labs.Duration(150 * time.Second)

// copies tries the Pod without its ambassador, then without its backend.
func (a *ambassador) copies(ctx context.Context, s *scene) (finding, error) {
	pod, f := s.pod()
	if pod == nil {
		return f, nil
	}
	want, err := s.cluster.Get(ctx, podRef(pod), a.App, a.remote(s))
	if err != nil {
		return finding{}, err
	}
	return s.inScratch(ctx, copiesLimit, func(ctx context.Context, b *bench) (finding, error) {
		if err := b.scratch.CopyNeeds(ctx, s.Namespace, &pod.Spec); err != nil {
			return finding{}, err
		}
		f, err := a.withoutHelper(ctx, b, pod, want.Body)
		if err != nil || !f.ok() {
			return f.of("Pod/" + pod.Name), err
		}
		return a.withoutBackend(ctx, s, b, pod, want.Body)
	})
}

// withoutHelper: in a copy that lacks the ambassador nothing may answer in its
// place, and the app must not come to the backend's answer by another way.
func (a *ambassador) withoutHelper(ctx context.Context, b *bench, pod *corev1.Pod, want string) (finding, error) {
	unproved := pass(Msg("ambassador.declared", "app", a.App))
	want = strings.TrimSpace(want)
	if want == "" {
		return unproved, nil
	}
	copied, err := b.createWithout(ctx, pod, a.Container)
	if err != nil || copied == nil {
		return unproved, err
	}
	alone, err := b.alone(ctx, copied, a.App, loneTime)
	if err != nil || alone == nil {
		return unproved, err
	}
	if running(alone, a.App) == nil {
		got, err := b.cluster.Get(ctx, podRef(alone), a.App, a.local())
		if err != nil {
			return finding{}, err
		}
		if got.Failed == "" && strings.TrimSpace(got.Body) == want {
			return fail(Msg("ambassador.idle", "ambassador", a.Container, "port", itoa(a.Port))).
				compared(unset, line(got.Body)).show(got.Body).why(Msg("ambassador.idle.why")), nil
		}
	}
	wrote, err := b.cluster.Logs(ctx, podRef(alone), a.App, false, maxLog)
	if err != nil {
		return finding{}, err
	}
	if strings.Contains(wrote, want) {
		return fail(Msg("ambassador.past", "app", a.App, "ambassador", a.Container)).
			compared(unset, line(want)).show(wrote).why(Msg("ambassador.direct.why", "port", itoa(a.Port))), nil
	}
	return unproved, nil
}

// nowhere is an address that refuses every connection at once.
const nowhere = "255.255.255.255"

// withoutBackend: a copy that cannot reach the backend must not give its answer.
func (a *ambassador) withoutBackend(ctx context.Context, s *scene, b *bench, pod *corev1.Pod, want string) (finding, error) {
	proved := pass(Msg("ambassador.proved", "ambassador", a.Container, "backend", a.Backend)).of("Pod/" + pod.Name)
	copied := copyPod(pod)
	copied.Labels = nil // no copy of a Service may take it for a backend
	full := a.name + "." + s.Namespace
	copied.Spec.HostAliases = append([]corev1.HostAlias{{IP: nowhere, Hostnames: []string{
		a.name, full, full + ".svc", full + ".svc.cluster.local",
	}}}, copied.Spec.HostAliases...)
	if err := b.dropService(ctx, a.name); err != nil {
		return finding{}, err
	}
	if _, err := b.scratch.CreatePod(ctx, copied); err != nil {
		return finding{}, err
	}
	answered, err := a.stillAnswers(ctx, b, ref{KindPod, copied.Name}, want)
	if err != nil || !answered {
		return proved, err
	}
	if a.known(s, pod) {
		// It knows the backend by another way, past the names taken from it
		// here: this experiment proves nothing against it.
		return proved, nil
	}
	return fail(Msg("ambassador.fake", "ambassador", a.Container, "backend", a.name)).of("Pod/"+pod.Name).
		compared(unset, line(want)).show(want), nil
}

func (b *bench) dropService(ctx context.Context, name string) error {
	snap, err := b.scratch.Snapshot(ctx, b.scratch.Namespace(), []Kind{KindService})
	if err != nil {
		return err
	}
	if snap.find(ref{KindService, name}) == nil {
		return nil
	}
	return b.scratch.DeleteService(ctx, name)
}

// How long the copy may take to start, and how often it is asked then.
const (
	ambassadorStart = 20 * time.Second
	ambassadorAsks  = 4
)

// stillAnswers reports whether the copy gives the backend's answer.
func (a *ambassador) stillAnswers(ctx context.Context, b *bench, r ref, want string) (bool, error) {
	until, asked := time.Now().Add(ambassadorStart), 0
	for asked < ambassadorAsks && time.Now().Before(until) {
		snap, err := b.scratch.Snapshot(ctx, b.scratch.Namespace(), kindsFor(KindPod))
		if err != nil {
			return false, err
		}
		if o := snap.find(r); o != nil {
			pod := o.value.(*corev1.Pod)
			st := status(pod, a.Container)
			if st != nil && ended(st) != nil {
				return false, nil // it gave up without its backend
			}
			if running(pod, a.Container) == nil && running(pod, a.App) == nil {
				got, err := b.cluster.Get(ctx, podRef(pod), a.App, a.local())
				if err != nil {
					return false, err
				}
				if got.Failed == "" && got.Status < 400 && strings.TrimSpace(got.Body) == strings.TrimSpace(want) {
					return true, nil
				}
				asked++
			}
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(2 * trialPause):
		}
	}
	return false, nil
}

// known reports whether the ambassador's container, or a ConfigMap or Secret
// of its Pod, names the backend. A made-up answer has no need to.
func (a *ambassador) known(s *scene, pod *corev1.Pod) bool {
	names := []string{a.name + "." + s.Namespace}
	if ip := a.clusterIP(s); ip != "" {
		names = append(names, ip)
	}
	var texts []string
	if k, ok := containerNamed(&pod.Spec, a.Container); ok {
		texts = append(append(texts, k.Command...), k.Args...)
		for _, e := range k.Env {
			texts = append(texts, e.Value)
		}
	}
	for i := range s.ConfigMaps {
		for _, v := range s.ConfigMaps[i].Data {
			texts = append(texts, v)
		}
	}
	for i := range s.Secrets {
		for _, v := range s.Secrets[i].Data {
			texts = append(texts, string(v))
		}
	}
	for _, t := range texts {
		for _, n := range names {
			if strings.Contains(t, n) {
				return true
			}
		}
	}
	return false
}
