package grader_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

func TestCompileReportsEveryProblemAtOnce(t *testing.T) {
	_, err := grader.Compile(instance(t, `
- {id: a, title: {en: x, ja: x}, pod: p, job: j, labels: {labels: {a: b}}}
- {id: b, title: {en: x, ja: x}, pod: p}
- {id: c, title: {en: x, ja: x}, labels: {labels: {a: b}}}
- {id: d, title: {en: x, ja: x}, pod: p, needs: [zz], labels: {labels: {a: b}}}
- {id: e, title: {en: x, ja: x}, pod: p, needs: [f], labels: {labels: {a: b}}}
- {id: f, title: {en: x, ja: x}, pod: p, needs: [e], labels: {labels: {a: b}}}
- {id: a, title: {en: x, ja: x}, pod: p, cel: "pod('p').spec.x =="}
- {id: g, title: {en: x, ja: x}, cel: "1 == 1"}
- {id: h, title: {en: x, ja: x}, cel: "pod('p').metadata.name + 'x' == 'y' ? 1 : 2"}
- {id: i, title: {en: x, ja: x}, pod: p, jobSpec: {completions: 1}}
- {id: j, title: {en: x, ja: x}, pod: p, fields: [{path: spec.containerz, equals: 1}]}
- {id: k, title: {en: x, ja: x}, pod: p, fields: [{path: "container[c].image"}]}
- {id: l, title: {en: x, ja: x}, pod: p, fields: [{path: "container[c].resources.limits.cpu", equals: lots}]}
- {id: m, title: {en: x, ja: x}, pod: p, logs: {container: c, matches: "("}}
- {id: n, title: {en: x, ja: x}, pod: p, http: {get: "localhost:80"}}
- {id: o, title: {en: x, ja: x}, cronJob: c, cronJobSpec: {schedule: "61 * * * *"}}
- {id: q, title: {en: x, ja: x}, pod: p, trial: {run: {}, kill: c}}
- {id: r, title: {en: x, ja: x}, pod: p, ambassador: {app: a, container: b, port: 0, backend: x}}
- {id: s, title: {en: x, ja: x}, pod: p, sharedVolume: {type: emptydir, mounts: {a: /x}, readOnly: [b]}}
`))
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	for _, want := range []string{
		`check "a": names 2 subjects`, `check "b": asks for nothing`, `check "c": names no subject`,
		`check "d": needs "zz", which does not exist`, `check "e": needs itself`, `the id is used twice`,
		`check "a": cel:`, `check "g": cel: the expression reads no object`, `check "h": cel: the expression gives a int`,
		`check "i": jobSpec cannot be about a Pod`, `has no field "containerz"`, `give exactly one of equals`,
		`check "l": fields:`, `check "m": logs.matches`, `is no http:// URL`, `check "o": cronJobSpec`,
		`give exactly one of run, failInit, kill and delete`, `"x" is not NAME:PORT`, `0 is no port`,
		`"emptydir" is no kind of volume`, `"b" is not one of the containers`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no word of %q in:\n%s", want, text)
		}
	}
}

func TestKindsAreThoseThatTheChecksMention(t *testing.T) {
	program, err := grader.Compile(&labs.Instance{Namespace: "x", Checks: []labs.Check{{
		ID: "a", Points: 1, Subject: labs.Subject{Service: "s"},
		Labels: &labs.Labels{Labels: map[string]string{"a": "b"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []grader.Kind{grader.KindEndpointSlice, grader.KindPod, grader.KindService}
	if diff := cmp.Diff(want, program.Kinds()); diff != "" {
		t.Error(diff)
	}
}
