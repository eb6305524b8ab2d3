// Package cluster defines how podproof comes by a Kubernetes cluster. Each
// provider has a package of its own below this one.
package cluster

import "context"

// Provider brings one cluster into being and takes it away again. All methods
// are idempotent and return soon after ctx ends.
type Provider interface {
	// Name is "embedded", "kind" or "existing".
	Name() string
	// Ensure makes the cluster exist, run and be ready for Pods; it reuses or
	// mends what an earlier, perhaps killed, process left. Images that the
	// labs use are in the cluster when it returns.
	Ensure(ctx context.Context, progress Progress) error
	// Kubeconfig returns an administrator's kubeconfig for the cluster.
	Kubeconfig(ctx context.Context) ([]byte, error)
	// LoadImages puts the images of docker-format archives into every node.
	LoadImages(ctx context.Context, archives []string, progress Progress) error
	// Status tells what there is without changing it.
	Status(ctx context.Context) (Status, error)
	// Close releases what Ensure holds in this process: an embedded cluster's
	// components stop, its data stays; other clusters run on.
	Close(ctx context.Context) error
	// Delete removes the cluster and all that it left on the machine.
	Delete(ctx context.Context, progress Progress) error
}

// Status is a cluster's state.
type Status struct {
	// State is absent, stopped, starting, ready or broken.
	State   State
	Version string // "v1.35.4", where it is known
	Detail  string // one line for people, perhaps with the way out
}

// State of a cluster.
type State string

// The states.
const (
	Absent   State = "absent"
	Stopped  State = "stopped"
	Starting State = "starting"
	Ready    State = "ready"
	Broken   State = "broken"
)

// Progress receives events in order; it must not block. It may be nil only
// where a provider documents it.
type Progress func(Event)

// Event is one step of a long operation.
type Event struct {
	// Step is a stable id: "etcd", "node-ready".
	Step string
	// Text says in English what is being done.
	Text string
	// Done marks the end of the step; Err its failure.
	Done bool
	Err  error
}
