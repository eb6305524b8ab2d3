package grader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// termination deletes a copy of the Pod and measures how it ends.
func (c *compiler) termination(m *labs.Termination) {
	if !c.on("termination", withPods()...) {
		return
	}
	trial := len(m.Order) > 0 || len(m.ExitCodes) > 0 || m.AtMost > 0 || len(m.Logs) > 0
	if m.Grace == nil && !trial {
		c.problem("termination asks for nothing")
	}
	if m.Grace != nil {
		c.look(Declared, 0, func(s *scene) finding {
			return number(s, s.obj.in("spec"), "terminationGracePeriodSeconds",
				m.Grace, s.obj.template.Spec.TerminationGracePeriodSeconds).doc(docLifecycle)
		})
	}
	if trial {
		if !c.on("a measured termination", KindPod) {
			return
		}
		c.try("termination", func(ctx context.Context, s *scene) (finding, error) {
			grace := time.Duration(30) * time.Second
			if g := s.obj.template.Spec.TerminationGracePeriodSeconds; g != nil {
				grace = time.Duration(*g) * time.Second
			}
			return s.inScratch(ctx, labs.Duration(trialLimit+grace), func(ctx context.Context, b *bench) (finding, error) {
				return measure(ctx, s, b, m)
			})
		})
	}
}

// ending is how one container of the copy ended.
type ending struct {
	container string
	code      int32
	at        *time.Time    // by the API, whole seconds
	after     time.Duration // since the deletion, as it was seen
}

func measure(ctx context.Context, s *scene, b *bench, m *labs.Termination) (finding, error) {
	r, err := b.place(ctx, s)
	if err != nil {
		return finding{}, err
	}
	up := func() finding {
		pod := b.obj.value.(*corev1.Pod)
		for _, name := range containerNames(&pod.Spec) {
			if k, _ := containerNamed(&pod.Spec, name); k.plainInit() {
				continue
			}
			// A process needs a moment to set its traps.
			if f := b.steady(pod, name, stable); f != nil {
				return *f
			}
		}
		return pass(Msg("status.passed", "object", r.String(), "state", "Running"))
	}
	if f, err := b.await(ctx, r, up); err != nil || !f.ok() {
		return f, err
	}
	pod := b.obj.value.(*corev1.Pod)
	changes, err := b.scratch.Watch(ctx, pod.Name)
	if err != nil {
		return finding{}, err
	}
	deleted := time.Now()
	if err := b.scratch.DeletePod(ctx, pod.Name); err != nil {
		return finding{}, err
	}
	ends, logs := b.follow(ctx, m, pod, changes, deleted)
	if ctx.Err() != nil {
		return finding{}, ctx.Err()
	}
	return judgeEnd(m, ends, logs), nil
}

// follow collects the containers' ends, and what they write until then.
func (b *bench) follow(ctx context.Context, m *labs.Termination, pod *corev1.Pod, changes <-chan Change, deleted time.Time) ([]ending, map[string]string) {
	var ends []ending
	logs := map[string]string{}
	read := func() {
		for name := range m.Logs {
			// A container that is gone has no log any more, and for a moment the
			// kubelet answers with the text of its own error instead: what was
			// once read stays read.
			if strings.Contains(logs[name], m.Logs[name]) {
				continue
			}
			if wrote, err := b.cluster.Logs(ctx, podRef(pod), name, false, maxLog); err == nil && wrote != "" {
				logs[name] = wrote
			}
		}
	}
	ticker := time.NewTicker(trialPause / 2)
	defer ticker.Stop()
	for {
		select {
		case c, ok := <-changes:
			if !ok {
				return ends, logs
			}
			if c.Container == "" || c.State != "terminated" || c.ExitCode == nil || c.Seen.Before(deleted.Add(-time.Second)) {
				continue
			}
			if !slices.ContainsFunc(ends, func(e ending) bool { return e.container == c.Container }) {
				ends = append(ends, ending{c.Container, *c.ExitCode, c.At, c.Seen.Sub(deleted)})
			}
		case <-ticker.C:
			read()
		case <-ctx.Done():
			return ends, logs
		}
	}
}

func judgeEnd(m *labs.Termination, ends []ending, logs map[string]string) finding {
	var told []string
	var order []string
	for _, e := range ends {
		told = append(told, fmt.Sprintf("%-20s exit %-3d after %.1fs", e.container, e.code, e.after.Seconds()))
		order = append(order, e.container)
	}
	sequence := strings.Join(told, "\n")
	find := func(name string) *ending {
		for i := range ends {
			if ends[i].container == name {
				return &ends[i]
			}
		}
		return nil
	}
	for _, name := range append(slices.Clone(m.Order), sortedKeys(m.ExitCodes)...) {
		if find(name) == nil {
			// Its last state was not seen: no proof for or against the answer.
			return fault(Msg("termination.unseen", "container", name)).show(sequence)
		}
	}
	for i := 1; i < len(m.Order); i++ {
		if first, then := find(m.Order[i-1]), find(m.Order[i]); endedAfter(first, then) {
			return fail(Msg("termination.order", "first", first.container, "then", then.container)).
				compared(strings.Join(m.Order, " → "), strings.Join(order, " → ")).
				show(sequence).why(Msg("termination.order.why")).doc(docSidecar)
		}
	}
	for _, name := range sortedKeys(m.ExitCodes) {
		want, e := m.ExitCodes[name], find(name)
		if e.code != want {
			f := fail(Msg("termination.code", "container", name, "expected", itoa(want), "observed", itoa(e.code))).
				compared(itoa(want), itoa(e.code)).show(sequence).doc(docLifecycle)
			if e.code == 137 {
				f = f.why(Msg("termination.killed.why"))
			}
			return f
		}
	}
	if m.AtMost > 0 && len(ends) > 0 {
		last := ends[len(ends)-1].after
		if limit := time.Duration(m.AtMost); last > limit {
			took := last.Round(100 * time.Millisecond).String()
			return fail(Msg("termination.slow", "expected", limit.String(), "observed", took)).
				compared("≤ "+limit.String(), took).show(sequence).why(Msg("termination.killed.why")).doc(docLifecycle)
		}
	}
	for _, name := range sortedKeys(m.Logs) {
		if !strings.Contains(logs[name], m.Logs[name]) {
			return fail(Msg("termination.log", "container", name, "expected", m.Logs[name])).
				compared(m.Logs[name], lastLine(logs[name])).show(logs[name]).doc(docLifecycle)
		}
	}
	return pass(Msg("termination.measured", "sequence", strings.Join(order, " → "))).show(sequence)
}

// endedAfter reports whether a ended after b by the API's clock or, within one
// of its seconds, by what was seen.
func endedAfter(a, b *ending) bool {
	if a.at != nil && b.at != nil && !a.at.Equal(*b.at) {
		return a.at.After(*b.at)
	}
	return a.after > b.after
}
