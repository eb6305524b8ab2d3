package app

import (
	"context"
	"strings"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/internal/sqlite"
)

// historyLength is how many changes of each namespace are remembered.
const historyLength = 5000

// history keeps what happens in the labs for good, and what happens in trials,
// each in a namespace of its own, as long as the process runs.
type history struct {
	labs   *sqlite.History
	trials *kube.Memory
}

var _ kube.History = (*history)(nil)

func newHistory(store *sqlite.Store, cluster string) *history {
	return &history{labs: store.History(cluster, historyLength), trials: kube.NewMemory(historyLength)}
}

func (h *history) of(namespace string) kube.History {
	if isTrial(namespace) {
		return h.trials
	}
	return h.labs
}

func isTrial(namespace string) bool { return strings.HasPrefix(namespace, "podproof-scratch-") }

// Record implements kube.History.
func (h *history) Record(ctx context.Context, namespace string, changes []grader.Change) error {
	return h.of(namespace).Record(ctx, namespace, changes)
}

// Blind implements kube.History.
func (h *history) Blind(ctx context.Context, namespace string, span grader.Span) error {
	return h.of(namespace).Blind(ctx, namespace, span)
}

// History implements kube.History.
func (h *history) History(ctx context.Context, namespace string) ([]grader.Change, []grader.Span, error) {
	return h.of(namespace).History(ctx, namespace)
}

// Alive implements kube.History.
func (h *history) Alive(ctx context.Context, kind string) (map[string][]grader.Change, error) {
	return h.labs.Alive(ctx, kind)
}
