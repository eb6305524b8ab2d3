package view

import (
	"html/template"
	"strconv"
)

// State is how far a learner is with a task.
type State string

// The states of a task.
const (
	NotStarted State = "notStarted"
	InProgress State = "inProgress"
	Solved     State = "solved"
)

// Home is the first page: every lab.
type Home struct {
	Labs          []Lab
	Solved, Total int
	// Resume is the task to go on with; nil when all are solved.
	Resume *TaskLine
}

// Lab is a lab and its tasks.
type Lab struct {
	Name, Path, Title, Summary string
	Solved                     int
	Tasks                      []TaskLine
}

// TaskLine is a task in a list.
type TaskLine struct {
	Number     int
	Path       string
	Title      string
	Difficulty int
	Minutes    int
	State      State
	// Earned and Total are the best points so far; Total is 0 before the
	// first grading.
	Earned, Total int
}

// Link leads to another page.
type Link struct{ Path, Title string }

// Task is a task's page.
type Task struct {
	Path           string
	Lab            Link
	Previous, Next *Link
	Title          string
	Difficulty     int
	Minutes        int
	Points         int
	State          State
	SolvedAt       *Moment

	Prompt    template.HTML
	Docs      []string
	Namespace string
	// Kubeconfig is the learner's, "" until there is one.
	Kubeconfig string
	// Start is offered where the task has objects to begin with.
	HasSetup, Started bool
	// Removes are what a reset removes: "Pod/web".
	Removes []string
	// Busy is what is being done with the task now: "start", "reset", "grade" or "".
	Busy string
	// Notice is what came of the learner's last request, where it needs words.
	Notice *Notice

	Checks   Checks
	Attempts []Attempt
	Help     Help
}

// Waits reports that the task's objects must be created first.
func (t Task) Waits() bool { return t.HasSetup && !t.Started }

// Notice is a message about a request.
type Notice struct {
	Bad  bool
	Text string
}

// Checks is the list of checks with the newest result of each.
type Checks struct {
	Rows []Check
	// Live says how the page sees the cluster: "on", "away", or "" before the
	// task's start and the cluster's.
	Live string
	// Earned is meaningful once At is set.
	Earned, Total int
	At            *Moment
	// Verdict over all checks; "" before the first grading.
	Verdict Verdict
	// Counts of each verdict.
	Passed, Failed, Waiting, Unknown int
}

// Verdict is the outcome of a check, or "" before one.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Pending Verdict = "pending"
	Error   Verdict = "error"
)

// key names the verdict in the catalogue and the style sheet.
func (v Verdict) key() string {
	if v == "" {
		return "none"
	}
	return string(v)
}

// Check is one check's row.
type Check struct {
	ID, Title      string
	Points, Earned int
	Verdict        Verdict
	// Live is a verdict on how things stand now; another comes of a grading.
	Live     bool
	Reason   string
	Expected string
	Observed string
	Because  string
	// Rank is declared, reported, probed or tried.
	Rank string
	// Where is the object and the field: "Pod/web spec.volumes".
	Where   string
	Docs    string
	Excerpt string
}

// HasDetail reports that there is more to say than the reason.
func (c Check) HasDetail() bool {
	return !c.Live && c.Verdict != Pass && (c.Expected != "" || c.Observed != "")
}

// Attempt is one grading in the history.
type Attempt struct {
	Number        int
	At            Moment
	Verdict       Verdict
	Earned, Total int
	Seconds       int
}

// Help is hints and the solution.
type Help struct {
	Hints     []template.HTML
	HintCount int
	// Solution is "" until it has been asked for.
	Solution template.HTML
}

func num(n int) string { return strconv.Itoa(n) }
