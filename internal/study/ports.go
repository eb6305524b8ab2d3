package study

import (
	"context"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// Store keeps what learners did. Every method is one transaction; what it has
// returned from without an error survives a crash.
type Store interface {
	// Records returns the learner's record of each task that has one.
	Records(ctx context.Context, learner Learner) (map[labs.Ref]Record, error)
	// Ensure returns the record of a task, and makes it with this seed where
	// there is none. The seed of a record never changes.
	Ensure(ctx context.Context, learner Learner, ref labs.Ref, seed uint64) (Record, error)
	// MarkStarted keeps the first time only.
	MarkStarted(ctx context.Context, learner Learner, ref labs.Ref, at time.Time) error
	// SetHints raises the count of hints taken; it never lowers it.
	SetHints(ctx context.Context, learner Learner, ref labs.Ref, hints int) error
	// MarkSolutionSeen keeps the first time only.
	MarkSolutionSeen(ctx context.Context, learner Learner, ref labs.Ref, at time.Time) error
	// SaveAttempt stores an attempt with its report and packed evidence, and
	// the solved mark where it is the first full pass, all or nothing. It
	// returns the attempt's ID.
	SaveAttempt(ctx context.Context, learner Learner, a Attempt, evidence []byte) (int64, error)
	// Attempts returns the newest attempts first, with their reports.
	Attempts(ctx context.Context, learner Learner, ref labs.Ref, limit int) ([]Attempt, error)
	// Evidence returns an attempt's packed evidence, nil where none was stored.
	Evidence(ctx context.Context, attempt int64) ([]byte, error)
}

// Record is what is stored of one learner's task.
type Record struct {
	Seed uint64
	Progress
}

// Workspace is the cluster side of a learner's work. An error that comes from
// the cluster wraps ErrUnavailable, ErrForbidden, ErrTimeout, ErrMissing or
// ErrRefused; until the cluster is ready it is ErrUnavailable.
type Workspace interface {
	State() ClusterState
	// Namespace is where a learner works on a lab.
	Namespace(learner Learner, lab string) string
	// Grader is the cluster as grading sees it.
	Grader() (grader.Cluster, error)
	// Watched is the cluster as live checks see it: by watches, so that a look
	// asks the API server nothing. An error means that it is out of sight.
	Watched() (grader.Cluster, error)
	// Apply makes a manifest's objects exist in the namespace.
	Apply(ctx context.Context, namespace, manifest string) error
	// Reset removes the instance's objects, waits until they are gone and
	// applies its setup.
	Reset(ctx context.Context, inst *labs.Instance) error
}
