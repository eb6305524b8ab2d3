package verify

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// said is a report with one check of one point for each verdict; the reasons
// are texts, not message IDs.
func said(verdicts ...any) *grader.Report {
	r := &grader.Report{}
	for i := 0; i < len(verdicts); i += 3 {
		x := grader.Result{
			Check: verdicts[i].(string), Verdict: verdicts[i+1].(grader.Verdict), Points: 1,
			Reason: grader.Message{ID: verdicts[i+2].(string)},
		}
		if x.Verdict == grader.Pass {
			x.Earned = 1
		}
		r.Results = append(r.Results, x)
	}
	return r
}

func TestACaseIsJudgedByWhatItPromises(t *testing.T) {
	r := &runner{options: Options{Message: func(m grader.Message) string { return m.ID }}}
	inst := &labs.Instance{Cases: labs.Cases{Rejected: []labs.RejectedCase{{Fails: []string{"b"}, Says: "the word"}}}}
	tests := map[string]struct {
		kind   CaseKind
		report *grader.Report
		want   Outcome
		says   string
	}{
		"the start earns nothing":       {Setup, said("a", grader.Fail, "no", "b", grader.Pending, "not yet"), OK, ""},
		"the start earns":               {Setup, said("a", grader.Pass, "there", "b", grader.Fail, "no"), WrongAccepted, "1 of 2 points: a: there"},
		"a right answer":                {Accepted, said("a", grader.Pass, "", "b", grader.Pass, ""), OK, ""},
		"a right answer refused":        {Accepted, said("a", grader.Pass, "", "b", grader.Fail, "no"), RightRefused, "b: no"},
		"a right answer not yet judged": {Solution, said("a", grader.Pass, "", "b", grader.Pending, "slow"), RightRefused, "b: slow (pending)"},
		"not decided":                   {Accepted, said("a", grader.Pass, "", "b", grader.Error, "down"), Undecided, "b could not be decided: down"},
		"a wrong answer refused":        {Rejected, said("a", grader.Pass, "", "b", grader.Fail, "has the word"), OK, ""},
		"a wrong answer accepted":       {Rejected, said("a", grader.Pass, "", "b", grader.Pass, ""), WrongAccepted, "should fail b"},
		"the wrong check fails":         {Rejected, said("a", grader.Fail, "no", "b", grader.Pass, ""), Misjudged, "should fail b, but fails a (no)"},
		"another check fails too":       {Rejected, said("a", grader.Fail, "no", "b", grader.Fail, "the word"), Misjudged, "fails a (no) too"},
		"the words are not said":        {Rejected, said("a", grader.Pass, "", "b", grader.Fail, "nothing"), Misjudged, `no reason says "the word"`},
		"said by a check that passes":   {Rejected, said("a", grader.Pass, "the word", "b", grader.Fail, "nothing"), Misjudged, `no reason says "the word"`},
		"a mutant that fails":           {Mutated, said("a", grader.Pass, "", "b", grader.Fail, ""), OK, ""},
		"a mutant that survives":        {Mutated, said("a", grader.Pass, "", "b", grader.Pass, ""), WrongAccepted, "scores full"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := r.judge(inst, spec{kind: test.kind}, test.report)
			if test.want == OK {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var f *fault
			if !errors.As(err, &f) || f.outcome != test.want || !strings.Contains(f.problem, test.says) {
				t.Errorf("judged %v, want %s with %q", err, test.want, test.says)
			}
		})
	}
}

func TestADifferenceIsNamed(t *testing.T) {
	base := prints{"Pod/a": {uid: "1", content: "x"}, "Job/ttl": {uid: "2", content: "y", fleeting: true}}
	with := func(name string, p mark) prints {
		c := prints{"Pod/a": base["Pod/a"], "Job/ttl": base["Job/ttl"]}
		c[name] = p
		return c
	}
	tests := map[string]struct {
		after    prints
		identity bool
		want     string
	}{
		"the same":               {with("Pod/a", base["Pod/a"]), true, ""},
		"gone":                   {prints{"Job/ttl": base["Job/ttl"]}, true, "Pod/a is gone"},
		"gone by its own TTL":    {prints{"Pod/a": base["Pod/a"]}, true, ""},
		"made anew":              {with("Pod/a", mark{uid: "9", content: "x"}), true, "Pod/a was made anew"},
		"made anew, as by reset": {with("Pod/a", mark{uid: "9", content: "x"}), false, ""},
		"changed":                {with("Pod/a", mark{uid: "1", content: "z"}), true, "Pod/a changed from x to z"},
		"more":                   {with("Secret/s", mark{}), true, "Secret/s appeared"},
	}
	for name, test := range tests {
		if got := difference(base, test.after, test.identity); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestAShellAnswerRunsAsALearnerWould(t *testing.T) {
	kubectl := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(kubectl, []byte("#!/bin/sh\necho \"kubectl $*\"\ncat \"$KUBECONFIG\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &runner{options: Options{Kubectl: kubectl, Log: slog.New(slog.DiscardHandler)}}
	if err := r.makeFolder(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(r.folder) }()
	tests := map[string]struct {
		text string
		want string // part of the failure; "" where it succeeds
	}{
		"what it is given":     {`test "$(kubectl get pods)" = "$(printf 'kubectl get pods\nthe config')" && test "$NAMESPACE" = ns && test -z "$(ls)"`, ""},
		"a failing command":    {"false\ntrue", "code 1"},
		"an unset variable":    {"echo $NOT_SET_AT_ALL", "NOT_SET_AT_ALL"},
		"its last words":       {"echo why >&2; exit 7", "code 7: why"},
		"a long output is cut": {"yes | head -c 100000; echo end; exit 2", "end"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			failed, err := r.runShell(t.Context(), "ns", []byte("the config"), labs.Script{File: "accepted/a.sh", Text: test.text})
			switch {
			case err != nil:
				t.Fatal(err)
			case test.want == "" && failed != nil, test.want != "" && (failed == nil || !strings.Contains(failed.Error(), test.want)):
				t.Errorf("failed = %v, want %q", failed, test.want)
			case failed != nil && len(failed.Error()) > 3000:
				t.Errorf("the failure has %d bytes", len(failed.Error()))
			}
		})
	}
}

func TestAnAnswerThatHangsEndsWithItsChildren(t *testing.T) {
	r := &runner{options: Options{Kubectl: "/bin/true", Log: slog.New(slog.DiscardHandler)}}
	if err := r.makeFolder(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(r.folder) }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := r.runShell(ctx, "ns", nil, labs.Script{File: "a.sh", Text: "sleep 60 & wait; sleep 60"})
	if err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("error = %v after %s", err, time.Since(began))
	}
}

func TestMutantsAreTheSlipsThatPeopleMake(t *testing.T) {
	list, err := mutants(`
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      activeDeadlineSeconds: 20
      template:
        spec:
          initContainers: [{name: a, image: "busybox:1.36"}, {name: b, image: "busybox:1.36"}]
          containers:
          - {name: main, image: "nginx:1.27", volumeMounts: [{name: data, mountPath: /data, readOnly: true}]}
          volumes: [{name: data, emptyDir: {}}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {key: value}}
`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	texts := map[string]string{}
	for _, m := range list {
		names = append(names, m.name)
		texts[m.name] = m.text
		if strings.ContainsAny(m.name, "*?[]\\/") {
			t.Errorf("the name %q does not serve as a glob", m.name)
		}
	}
	const pod = "spec.jobTemplate.spec.template.spec"
	for want, part := range map[string]string{
		"CronJob tick: drop spec.schedule":                                                                  `"spec":{"jobTemplate"`,
		"CronJob tick: change spec.jobTemplate.spec.activeDeadlineSeconds":                                  `"activeDeadlineSeconds":21`,
		"CronJob tick: move activeDeadlineSeconds from spec.jobTemplate.spec to " + pod:                     `"template":{"spec":{"activeDeadlineSeconds":20`,
		"CronJob tick: swap a and b":                                                                        `[{"image":"busybox:1.36","name":"b"},{"image":"busybox:1.36","name":"a"}]`,
		"CronJob tick: main ends with 1":                                                                    `"exit 1"`,
		"CronJob tick: main does not mount data":                                                            `"volumeMounts":[]`,
		"CronJob tick: main mounts a volume of its own for data":                                            `"mountPath":"/data","name":"mutant"`,
		"CronJob tick: change " + pod + ".containers.main.image":                                            `"image":"busybox:1.36","name":"main"`,
		"CronJob tick: change " + pod + ".containers.main.volumeMounts.data.readOnly":                       `"readOnly":false`,
		"ConfigMap conf: change data.key":                                                                   `"key":"valuex"`,
		"CronJob tick: drop spec.jobTemplate.spec.template.spec.containers.main.volumeMounts.data.readOnly": `"mountPath":"/data","name":"data"}`,
	} {
		if !slices.Contains(names, want) || !strings.Contains(texts[want], part) {
			t.Errorf("no mutant %q with %s, but\n%s\n%s", want, part, texts[want], strings.Join(names, "\n"))
		}
	}
	for name, text := range texts {
		if objects, err := decode(text); err != nil || len(objects) != 2 {
			t.Errorf("%s: %d objects, %v", name, len(objects), err)
		}
	}
}

func TestAJustifiedMutantIsNoSurvivor(t *testing.T) {
	task := &labs.Task{Cases: labs.Cases{Equivalent: []labs.Equivalent{{Mutant: "*: Pod web: drop spec.containers.*.ports"}}}}
	if !justified(task, "solution.yaml: Pod web: drop spec.containers.web.ports") {
		t.Error("a glob does not match its mutant")
	}
	if justified(task, "solution.yaml: Pod web: drop spec.restartPolicy") {
		t.Error("another mutant is justified too")
	}
}
