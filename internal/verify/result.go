// Package verify proves tasks on a cluster: that the start earns nothing, that
// right answers score full and wrong ones fail where they should, that grading
// leaves a learner's objects alone, and that reset leads back to the start.
package verify

import (
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// CaseKind says what a case is expected to come to.
type CaseKind string

// The kinds of cases.
const (
	Setup    CaseKind = "setup"    // the start alone: no points
	Solution CaseKind = "solution" // full points
	Accepted CaseKind = "accepted" // full points
	Rejected CaseKind = "rejected" // exactly the named checks fail
	Mutated  CaseKind = "mutant"   // less than full points
)

// Outcome is what became of a case.
type Outcome string

// The outcomes. All but OK are faults of the task or of the grader.
const (
	OK Outcome = "ok"
	// RightRefused: a right answer did not score full.
	RightRefused Outcome = "rightRefused"
	// WrongAccepted: a wrong answer scored full, or the start scored at all.
	WrongAccepted Outcome = "wrongAccepted"
	// Misjudged: a wrong answer failed, but not where or not with the words
	// that its case names.
	Misjudged Outcome = "misjudged"
	// Undecided: a check could not be decided.
	Undecided Outcome = "undecided"
	// Unapplied: the answer could not be applied, or was and should not.
	Unapplied Outcome = "unapplied"
	// Untidy: grading changed the learner's objects, or reset did not lead
	// back to the start.
	Untidy Outcome = "untidy"
	// Broken: podproof itself or the cluster failed.
	Broken Outcome = "broken"
)

// Case is one case and what became of it.
type Case struct {
	Task    labs.Ref       `json:"task"`
	Kind    CaseKind       `json:"kind"`
	File    string         `json:"file,omitempty"` // "accepted/imperative.sh"
	Mutant  string         `json:"mutant,omitempty"`
	Params  map[string]any `json:"params,omitempty"`
	Outcome Outcome        `json:"outcome"`
	// Problem says in English what is wrong; "" where the outcome is OK.
	Problem string        `json:"problem,omitempty"`
	Earned  int           `json:"earned"`
	Points  int           `json:"points"`
	Took    time.Duration `json:"took"` // nanoseconds
	// Report is the grading, where one took place.
	Report *grader.Report `json:"report,omitempty"`
}

// Task is what was proven of one task.
type Task struct {
	Ref   labs.Ref `json:"ref"`
	Cases []Case   `json:"cases"`
	// Unexercised lists checks that no rejected case makes fail.
	Unexercised []string `json:"unexercised,omitempty"`
	// Survivors are mutants of right answers that still score full and that
	// the task does not justify.
	Survivors []Mutant `json:"survivors,omitempty"`
	// Mutants counts those that were tried; it is 0 unless they were asked for.
	Mutants int `json:"mutants,omitempty"`
}

// Mutant is a right answer with one change.
type Mutant struct {
	File string `json:"file"`
	Name string `json:"name"` // "solution.yaml: Pod web: drop spec.restartPolicy"
}

// Count returns the number of cases with an outcome.
func (t *Task) Count(o Outcome) int {
	n := 0
	for i := range t.Cases {
		if t.Cases[i].Outcome == o {
			n++
		}
	}
	return n
}

// OK reports whether the task is proven.
func (t *Task) OK() bool { return t.Count(OK) == len(t.Cases) && len(t.Survivors) == 0 }

// Result is what a run came to.
type Result struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Tasks    []Task    `json:"tasks"`
}

// Count returns the number of cases of all tasks with an outcome.
func (r *Result) Count(o Outcome) int {
	n := 0
	for i := range r.Tasks {
		n += r.Tasks[i].Count(o)
	}
	return n
}

// OK reports whether every task is proven.
func (r *Result) OK() bool {
	for i := range r.Tasks {
		if !r.Tasks[i].OK() {
			return false
		}
	}
	return true
}
