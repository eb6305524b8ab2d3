// Package grader decides whether a cluster's objects answer a task. It sees a
// cluster only through the Cluster interface and never changes what it grades.
package grader

import "time"

// Verdict is the outcome of one check.
type Verdict string

// The verdicts. Pending and Failed-to-look are never counted as wrong.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Pending Verdict = "pending" // not yet: a Pod still starts, a probe has time left
	Error   Verdict = "error"   // could not look: API server down, timeout, forbidden
)

// Rank says what a verdict rests on, from the weakest to the strongest.
type Rank string

// The ranks of evidence.
const (
	Declared Rank = "declared" // the object's spec, after API defaulting
	Reported Rank = "reported" // status, conditions, events, the recorder's history
	Probed   Rank = "probed"   // logs, exec, http from inside the Pod
	Tried    Rank = "tried"    // an experiment on a copy
)

// Message is a text to be rendered from the message catalogues: an ID such as
// "sidecar.notNative" and its named values, alternating: name, value.
type Message struct {
	ID   string            `json:"id"`
	Args map[string]string `json:"args,omitempty"`
}

// Msg builds a Message from alternating names and values.
func Msg(id string, pairs ...string) Message {
	m := Message{ID: id}
	for i := 0; i+1 < len(pairs); i += 2 {
		if m.Args == nil {
			m.Args = make(map[string]string, len(pairs)/2)
		}
		m.Args[pairs[i]] = pairs[i+1]
	}
	return m
}

// Result is the verdict on one check.
type Result struct {
	// Check is the check's id.
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Points  int     `json:"points"`
	Earned  int     `json:"earned"`
	// Rank is the strongest evidence that was used.
	Rank Rank `json:"rank"`
	// Object is what was looked at: "Pod/web"; Path the field within it.
	Object string `json:"object,omitempty"`
	Path   string `json:"path,omitempty"`
	// Reason is one sentence on the verdict; it is never empty.
	Reason Message `json:"reason"`
	// Expected and Observed are values in the normalised form that was
	// compared; both empty where the reason says it all.
	Expected string `json:"expected,omitempty"`
	Observed string `json:"observed,omitempty"`
	// Because says why that matters, where a misconception is likely.
	Because *Message `json:"because,omitempty"`
	// Docs is a page of the Kubernetes documentation.
	Docs string `json:"docs,omitempty"`
	// Excerpt is raw evidence to show: log lines, a response, a measured sequence.
	Excerpt string `json:"excerpt,omitempty"`
}

// Waits reports whether the check is not decided yet but may be without a
// grading: it does not wait for a probe.
func (r Result) Waits() bool {
	return r.Verdict == Pending && r.Reason.ID != "probe.onCheck" && r.Reason.ID != "needs.pending"
}

// Report is the outcome of one evaluation of a task.
type Report struct {
	Task      string    `json:"task"` // "LAB/TASK"
	Namespace string    `json:"namespace"`
	Started   time.Time `json:"started"`
	Finished  time.Time `json:"finished"`
	// Results stand in the order of the task's checks, one for each.
	Results []Result `json:"results"`
	// Evidence is what the verdicts rest on, enough to evaluate again offline.
	Evidence *Evidence `json:"-"`
}

// Points returns what was earned and what could be.
func (r *Report) Points() (earned, total int) {
	for _, x := range r.Results {
		earned += x.Earned
		total += x.Points
	}
	return earned, total
}

// Verdict sums up the report: Pass when all checks pass; else Error when one
// could not be decided, Pending when one is not decided yet, or Fail.
func (r *Report) Verdict() Verdict {
	seen := map[Verdict]bool{}
	for _, x := range r.Results {
		seen[x.Verdict] = true
	}
	for _, v := range []Verdict{Error, Pending, Fail} {
		if seen[v] {
			return v
		}
	}
	return Pass
}
