package study

import (
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// Overview is the first page: every lab, and how far the learner is.
type Overview struct {
	Labs    []LabView
	Cluster ClusterState
}

// LabView is a lab with its tasks in the order of the course.
type LabView struct {
	Name    string
	Title   labs.Text
	Summary labs.Text
	Tasks   []TaskCard
	// Solved counts the tasks that the learner has solved.
	Solved int
}

// TaskCard is a task in a list.
type TaskCard struct {
	Ref        labs.Ref
	Title      labs.Text
	Curriculum string
	Difficulty int
	Minutes    int
	Progress   Progress
}

// Progress is how far a learner is with a task. The zero value is a task that
// was never touched.
type Progress struct {
	// Started is when the setup was first applied; nil before.
	Started *time.Time
	// Solved is when the task first passed in full. It stays for ever.
	Solved *time.Time
	// Attempts counts all gradings; Best and Last are points earned in them,
	// of Total. LastVerdict is "" before the first.
	Attempts    int
	Best        int
	Last        int
	Total       int
	LastVerdict grader.Verdict
	// Hints counts hints taken; SolutionSeen is when the solution was asked for.
	Hints        int
	SolutionSeen *time.Time
}

// TaskView is all that a task's page shows.
type TaskView struct {
	Ref            labs.Ref
	LabTitle       labs.Text
	Title          labs.Text
	Curriculum     string
	Difficulty     int
	Minutes        int
	Docs           []string
	Previous, Next *labs.Ref

	Namespace string
	Params    map[string]any
	Prompt    labs.Text // Markdown, rendered with the learner's values
	Checks    []CheckView
	Points    int
	// HasSetup reports that Start must come before the learner's work.
	HasSetup bool
	// Removes are the objects that Reset removes where they exist; what they
	// own goes with them.
	Removes []labs.ObjectRef

	Progress Progress
	// Live is how the task stands on the cluster now, graded or not.
	Live LiveView
	// Attempts are the newest first; Last is the first of them, or nil.
	Attempts []Attempt
	Last     *Attempt

	// Hints are those taken, of HintCount.
	Hints     []labs.Text
	HintCount int
	// Solution is nil until the learner has asked for it.
	Solution *SolutionView

	// Activity is what is being done with the task at this moment, or "".
	Activity Activity
	Cluster  ClusterState
}

// CheckView is a check as the page lists it before any grading.
type CheckView struct {
	ID     string
	Title  labs.Text
	Points int
}

// SolutionView is the explained answer and the reference files.
type SolutionView struct {
	Text   labs.Text // Markdown
	Answer labs.Script
}

// Attempt is one grading, as it is stored. It never changes.
type Attempt struct {
	ID            int64
	Ref           labs.Ref
	Seed          uint64
	Started       time.Time
	Finished      time.Time
	Verdict       grader.Verdict
	Earned, Total int
	// Report has no Evidence; the store keeps that beside it.
	Report *grader.Report
}

func newAttempt(ref labs.Ref, r *grader.Report, seed uint64) Attempt {
	earned, total := r.Points()
	return Attempt{
		Ref: ref, Seed: seed,
		Started: r.Started, Finished: r.Finished,
		Verdict: r.Verdict(), Earned: earned, Total: total,
		Report: r,
	}
}

// Activity is something that holds a task, so that nothing else may begin.
type Activity string

// The activities.
const (
	ActivityStart Activity = "start"
	ActivityReset Activity = "reset"
	ActivityGrade Activity = "grade"
)

// ClusterState is how far the cluster is, for people to see.
type ClusterState struct {
	Phase ClusterPhase
	// Provider is "embedded", "kind" or "existing"; "" before one is chosen.
	Provider string
	// Version of Kubernetes, "v1.35.4", once it is known.
	Version string
	// Steps are what has been and is being done, in order.
	Steps []ClusterStep
	// Problem is why it failed and what to do, in English; "" unless failed.
	Problem string
	// Kubeconfig is the path of the learner's kubeconfig, once it is written.
	Kubeconfig string
}

// Ready reports whether tasks can be started and graded.
func (s ClusterState) Ready() bool { return s.Phase == ClusterReady }

// ClusterPhase is the phase of a cluster's life that matters to a learner.
type ClusterPhase string

// The phases.
const (
	ClusterStarting ClusterPhase = "starting"
	ClusterReady    ClusterPhase = "ready"
	ClusterFailed   ClusterPhase = "failed"
)

// ClusterStep is one step on the way to a ready cluster.
type ClusterStep struct {
	// ID is stable: "etcd", "node-ready"; Text says it in English.
	ID      string
	Text    string
	Started time.Time
	Done    bool
	// Problem is why the step failed; "" where it did not.
	Problem string
}
