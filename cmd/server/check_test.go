package main

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

func graded() (words, *study.Attempt) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	w := words{
		title:   "Ship logs",
		checks:  map[string]string{"a": "First", "b": "Second", "c": "Third"},
		message: func(m grader.Message) string { return "<" + m.ID + ">" },
	}
	return w, &study.Attempt{
		ID: 4, Ref: labs.Ref{Lab: "lab", Task: "task"}, Started: at, Finished: at.Add(1500 * time.Millisecond),
		Verdict: grader.Error, Earned: 2, Total: 6,
		Report: &grader.Report{Results: []grader.Result{
			{Check: "a", Verdict: grader.Pass, Points: 2, Earned: 2, Reason: grader.Msg("ok")},
			{Check: "b", Verdict: grader.Fail, Points: 3, Reason: grader.Msg("wrong"), Object: "Pod/web", Path: "spec.x",
				Expected: "1 & 2", Observed: "3"},
			{Check: "c", Verdict: grader.Error, Points: 1, Reason: grader.Msg("away")},
		}},
	}
}

func TestAttemptAsText(t *testing.T) {
	w, a := graded()
	var b strings.Builder
	if err := writeText(&b, w, a); err != nil {
		t.Fatal(err)
	}
	want := `lab/task  Ship logs

pass     2/2  First
fail     0/3  Second
              <wrong>
              object: Pod/web spec.x
              expected: 1 & 2
              observed: 3
error    0/1  Third
              <away>

error: 2 of 6 points in 1.5 s
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAttemptAsJUnitTellsWrongFromUndecided(t *testing.T) {
	w, a := graded()
	var b strings.Builder
	if err := writeJUnit(&b, w, a); err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	want := junitSuite{
		XMLName: xml.Name{Local: "testsuite"}, Name: "lab/task", Tests: 3, Failures: 1, Errors: 1, Time: "1.500",
		Cases: []junitCase{
			{Class: "lab/task", Name: "a"},
			{Class: "lab/task", Name: "b", Failure: &junitProblem{Message: "<wrong>", Type: "fail", Text: "expected: 1 & 2\nobserved: 3"}},
			{Class: "lab/task", Name: "c", Error: &junitProblem{Message: "<away>", Type: "error"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAttemptAsJSONHasTheWords(t *testing.T) {
	w, a := graded()
	var b strings.Builder
	if err := writeJSON(&b, w, a); err != nil {
		t.Fatal(err)
	}
	var got jsonAttempt
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Attempt != 4 || got.Verdict != grader.Error || len(got.Results) != 3 ||
		got.Results[1].Text != "<wrong>" || got.Results[1].Title != "Second" || got.Results[1].Check != "b" {
		t.Errorf("got %+v", got)
	}
}
