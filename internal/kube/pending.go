package kube

import (
	"context"
	"errors"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

var errSoon = errors.ErrUnsupported

// ObjectRef names an object within a namespace.
type ObjectRef struct {
	Kind string // "Pod"
	Name string
}

// Objects lists every object that the instance's setup, checks and reference
// solution name, in no particular order and without duplicates.
func Objects(inst *labs.Instance) []ObjectRef { return nil }

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

func (c *Client) Snapshot(ctx context.Context, namespace string, kinds []grader.Kind) (*grader.Snapshot, error) {
	return nil, errSoon
}

func (c *Client) Elsewhere(ctx context.Context, namespace string, kind grader.Kind, name string) ([]string, error) {
	return nil, errSoon
}

func (c *Client) Logs(ctx context.Context, pod grader.PodRef, container string, previous bool, max int) (string, error) {
	return "", errSoon
}

func (c *Client) Exec(ctx context.Context, pod grader.PodRef, container string, command []string) (grader.ExecResult, error) {
	return grader.ExecResult{}, errSoon
}

func (c *Client) Get(ctx context.Context, pod grader.PodRef, container, url string) (grader.GetResult, error) {
	return grader.GetResult{}, errSoon
}

func (c *Client) Scratch(ctx context.Context) (grader.Scratch, error) { return nil, errSoon }

// Provision makes lab namespaces and the learner's rights in them. It is
// idempotent. progress may be nil; it must not block.
func (c *Client) Provision(ctx context.Context, namespaces []string, progress func(step string)) error {
	return errSoon
}

// Unprovision removes all that Provision made in this cluster and nothing
// else, and waits until it is gone.
func (c *Client) Unprovision(ctx context.Context, progress func(step string)) error { return errSoon }

// LearnerKubeconfig returns a kubeconfig with the learner's identity and a
// context for each namespace, named after it.
func (c *Client) LearnerKubeconfig(ctx context.Context, namespaces []string, current string) ([]byte, error) {
	return nil, errSoon
}

// Apply applies a manifest's objects in the namespace, server-side.
func (c *Client) Apply(ctx context.Context, namespace, manifest string) error { return errSoon }

// Reset deletes the objects and what they own, waits until all are gone, and
// applies the setup.
func (c *Client) Reset(ctx context.Context, namespace string, objects []ObjectRef, setup string) error {
	return errSoon
}

// Sweep removes scratch namespaces that nobody uses any more.
func (c *Client) Sweep(ctx context.Context) error { return errSoon }
