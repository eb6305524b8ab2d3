package kube

import (
	"context"
	"slices"
	"sync"

	"github.com/podproof/podproof/grader"
)

// History is what a Recorder writes and snapshots read.
type History interface {
	// Record appends changes, oldest first.
	Record(ctx context.Context, namespace string, changes []grader.Change) error
	// Blind notes a span in which changes may have been missed.
	Blind(ctx context.Context, namespace string, span grader.Span) error
	// History returns the changes, oldest first, and the blind spans.
	History(ctx context.Context, namespace string) ([]grader.Change, []grader.Span, error)
	// Alive returns, by namespace, the last change of each object of a kind
	// whose end was not recorded.
	Alive(ctx context.Context, kind string) (map[string][]grader.Change, error)
}

// Memory is a History in memory with a bound for each namespace. It is safe
// for concurrent use.
type Memory struct {
	most int
	mu   sync.Mutex
	all  map[string]*past
}

type past struct {
	changes []grader.Change
	blind   []grader.Span
}

// NewMemory returns a History that keeps the newest most changes of each
// namespace, and as many blind spans.
func NewMemory(most int) *Memory {
	return &Memory{most: most, all: map[string]*past{}}
}

// Record implements History.
func (m *Memory) Record(_ context.Context, namespace string, changes []grader.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.past(namespace)
	p.changes = bounded(append(p.changes, changes...), m.most)
	return nil
}

// Blind implements History.
func (m *Memory) Blind(_ context.Context, namespace string, span grader.Span) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.past(namespace)
	p.blind = bounded(append(p.blind, span), m.most)
	return nil
}

// History implements History.
func (m *Memory) History(_ context.Context, namespace string) ([]grader.Change, []grader.Span, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.all[namespace]
	if p == nil {
		return nil, nil, nil
	}
	return slices.Clone(p.changes), slices.Clone(p.blind), nil
}

// Alive implements History. Memory has no past that a Recorder could lack.
func (m *Memory) Alive(context.Context, string) (map[string][]grader.Change, error) { return nil, nil }

// Forget drops what is kept of a namespace.
func (m *Memory) Forget(namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, namespace)
}

func (m *Memory) past(namespace string) *past {
	p := m.all[namespace]
	if p == nil {
		p = &past{}
		m.all[namespace] = p
	}
	return p
}

// bounded keeps the last most elements; it lets the slice grow to twice that
// so as not to copy for each.
func bounded[T any](s []T, most int) []T {
	if len(s) <= 2*most {
		return s
	}
	return append(s[:0:0], s[len(s)-most:]...)
}
