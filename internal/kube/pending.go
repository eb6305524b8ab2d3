package kube

import (
	"context"
	"errors"

	"github.com/podproof/podproof/grader"
)

var errSoon = errors.ErrUnsupported

// History is what a Recorder writes and snapshots read.
type History interface {
	// Record appends changes, oldest first.
	Record(ctx context.Context, namespace string, changes []grader.Change) error
	// Blind notes a span in which changes may have been missed.
	Blind(ctx context.Context, namespace string, span grader.Span) error
	// History returns the changes, oldest first, and the blind spans.
	History(ctx context.Context, namespace string) ([]grader.Change, []grader.Span, error)
}

// NewMemory returns a History that keeps the newest max changes of each namespace.
func NewMemory(max int) *Memory { return &Memory{} }

// Memory is a History in memory.
type Memory struct{}

func (*Memory) Record(context.Context, string, []grader.Change) error { return errSoon }
func (*Memory) Blind(context.Context, string, grader.Span) error      { return errSoon }
func (*Memory) History(context.Context, string) ([]grader.Change, []grader.Span, error) {
	return nil, nil, errSoon
}

// Record watches Pods, Jobs and Events and stores their changes until ctx
// ends, in the namespaces that keep accepts.
func (c *Client) Record(ctx context.Context, keep func(namespace string) bool, into History) error {
	return errSoon
}

func (c *Client) Scratch(ctx context.Context) (grader.Scratch, error) { return nil, errSoon }

// Sweep removes scratch namespaces that nobody uses any more.
func (c *Client) Sweep(ctx context.Context) error { return errSoon }
