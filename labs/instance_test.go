package labs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/podproof/podproof/labs"
)

func load(t testing.TB, files fstest.MapFS) *labs.Catalog {
	t.Helper()
	catalog, err := labs.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func task(t testing.TB, files fstest.MapFS) *labs.Task {
	t.Helper()
	found, ok := load(t, files).Task(labs.Ref{Lab: "demo", Task: "web"})
	if !ok {
		t.Fatal("demo/web is not in the catalogue")
	}
	return found
}

func replace(t testing.TB, files fstest.MapFS, name, old, replacement string) {
	t.Helper()
	data := string(files[name].Data)
	if !strings.Contains(data, old) {
		t.Fatalf("%s holds no %q", name, old)
	}
	files[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(data, old, replacement))}
}

func TestInstanceRendersEverythingWithTheParams(t *testing.T) {
	inst, err := task(t, sound(t)).InstanceOf("demo-ann", map[string]any{"grace": 45})
	if err != nil {
		t.Fatal(err)
	}
	if got := *inst.Checks[1].Termination.Grace; got != 45 {
		t.Errorf("a scalar that is one action takes the type of its value: grace is %d, want 45", got)
	}
	for name, text := range map[string]string{
		"prompt": inst.Prompt.EN, "prompt in Japanese": inst.Prompt.JA, "hint": inst.Hints[1].JA,
		"answer": inst.Answer.Text, "rejected case's words": inst.Cases.Rejected[1].Says,
	} {
		if !strings.Contains(text, "45") || strings.Contains(text, "{{") {
			t.Errorf("%s is not rendered: %q", name, text)
		}
	}
	if got := inst.Checks[2].HTTP.Get; got != "http://localhost/{{nonce}}" {
		t.Errorf("the nonce is the grader's to fill in, but the URL is %q", got)
	}
	if inst.Points() != 5 || inst.Namespace != "demo-ann" {
		t.Errorf("points %d in %s", inst.Points(), inst.Namespace)
	}
	c, err := inst.Case(inst.Cases.Accepted[2].Path())
	if err != nil || !c.Shell() || !strings.Contains(c.Text, "grace: 45") {
		t.Errorf("case: %+v, %v", c, err)
	}
}

func TestActionsTakeTypesWhereTheFieldWantsThem(t *testing.T) {
	files := sound(t)
	replace(t, files, "demo/web/task.yaml", "oneOf: [35, 45]", `oneOf: [7, true, "8"]`)
	replace(t, files, "demo/web/task.yaml", `termination: {grace: "{{.grace}}"}`,
		`labels: {labels: {"n-{{.grace}}": "{{.grace}}", ns: "{{.namespace}}"}}
    fields: [{path: a, equals: "{{.grace}}"}, {path: b, equals: "x{{.grace}}"}]`)
	for _, want := range []any{int64(7), true, "8"} {
		inst, err := task(t, files).InstanceOf("ns", map[string]any{"grace": want})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(want)
		c := inst.Checks[1]
		if diff := cmp.Diff(map[string]string{"n-" + text: text, "ns": "ns"}, c.Labels.Labels); diff != "" {
			t.Errorf("text fields take any value as text (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{want, "x" + text}, []any{c.Fields[0].Equals, c.Fields[1].Equals}); diff != "" {
			t.Errorf("free fields keep the type (-want +got):\n%s", diff)
		}
	}
}

func TestInstanceOfRefusesOtherParamsThanDeclared(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"none": nil, "another value": {"grace": 36}, "another type": {"grace": "35"},
		"one too many": {"grace": 35, "x": 1}, "a list": {"grace": []any{35}},
	} {
		if _, err := task(t, sound(t)).InstanceOf("demo", params); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// Params that went through JSON, as stored ones do, are still the same.
	if _, err := task(t, sound(t)).InstanceOf("demo", map[string]any{"grace": float64(35)}); err != nil {
		t.Error(err)
	}
}

func TestSeedsChooseAllVariantsAndAlwaysTheSame(t *testing.T) {
	files := sound(t)
	replace(t, files, "demo/web/task.yaml", "grace: {oneOf: [35, 45]}", "grace: {oneOf: [35, 45]}\n  size: {oneOf: [1, 2, 3]}")
	replace(t, files, "demo/web/prompt.en.md", "seconds", "seconds {{.size}}")
	web := task(t, files)
	if web.Variants() != 6 {
		t.Fatalf("%d variants, want 6", web.Variants())
	}
	all := map[string]bool{}
	for i := range web.Variants() {
		all[fmt.Sprint(web.Variant(i))] = true
	}
	seen := map[string]bool{}
	for seed := range uint64(100) {
		a, err := web.Instance("demo", seed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := web.Instance("demo", seed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b, cmpopts.IgnoreUnexported(labs.Instance{}, labs.Task{})); diff != "" {
			t.Fatalf("seed %d gives two instances:\n%s", seed, diff)
		}
		seen[fmt.Sprint(a.Params)] = true
	}
	if diff := cmp.Diff(all, seen); len(all) != 6 || diff != "" {
		t.Errorf("variants and what 100 seeds chose (-all +seen):\n%s", diff)
	}
	// Stored seeds must mean the same in every release.
	one, err := web.Instance("demo", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(one.Params); got != "map[grace:45 size:3]" {
		t.Errorf("seed 1 has come to mean %s", got)
	}
}

func TestEveryValueOfEveryParamIsDecodedHoweverManyVariants(t *testing.T) {
	files := sound(t)
	var params, uses strings.Builder
	for i := range 8 {
		fmt.Fprintf(&params, "\n  p%d: {oneOf: [1, 2, 3, 4]}", i)
		fmt.Fprintf(&uses, " {{.p%d}}", i)
	}
	replace(t, files, "demo/web/task.yaml", "grace: {oneOf: [35, 45]}", "grace: {oneOf: [35, 36, 37, bad, 38]}"+params.String())
	replace(t, files, "demo/web/prompt.en.md", "seconds", "seconds"+uses.String())
	_, err := labs.Load(files)
	if err == nil || !strings.Contains(err.Error(), `not the text "bad"`) {
		t.Errorf("got %v", err)
	}
}

func TestObjectsAreThoseOfChecksSetupAndAnswer(t *testing.T) {
	files := sound(t)
	replace(t, files, "demo/web/task.yaml", `termination: {grace: "{{.grace}}"}`, `env: {container: server, vars: {A: "{{.grace}}"}, from: {A: configMap/extra, B: secret/key, C: field/metadata.name}}
    cel: "service('front').spec.type == 'ClusterIP' && job(\"tidy\") != null && pods.size() == 1"
    ambassador: {app: server, container: b, port: 80, backend: "store:8080"}`)
	replace(t, files, "demo/web/setup.yaml", "data: {mode: \"on\"}", `---
apiVersion: v1
kind: List
items:
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: back}}
  - {apiVersion: v1, kind: Pod, metadata: {name: web}}`)
	inst, err := task(t, files).Instance("demo", 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range inst.Objects() {
		got = append(got, o.APIVersion+" "+o.String())
	}
	want := []string{
		"v1 ConfigMap/extra", "v1 ConfigMap/settings", "apps/v1 Deployment/back", "batch/v1 Job/tidy",
		"v1 Pod/web", "v1 Secret/key", "v1 Service/front", "v1 Service/store",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestSoundTasksAreLoadedBesideBrokenOnes(t *testing.T) {
	files := sound(t)
	replace(t, files, "demo/lab.yaml", "  - web", "  - web\n  - broken")
	files["demo/broken/task.yaml"] = &fstest.MapFile{Data: []byte("kind: Task")}
	catalog, err := labs.Load(files)
	var problems labs.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got %v, want problems", err)
	}
	if _, ok := catalog.Task(labs.Ref{Lab: "demo", Task: "web"}); !ok {
		t.Error("the sound task is missing")
	}
	if _, ok := catalog.Task(labs.Ref{Lab: "demo", Task: "broken"}); ok {
		t.Error("the broken task is there")
	}
}

func TestMergeLetsALaterLabTakeAnEarlierOnesPlace(t *testing.T) {
	first := &labs.Catalog{Labs: []*labs.Lab{{Name: "a"}, {Name: "b"}}}
	mine := &labs.Lab{Name: "a", Title: labs.Text{EN: "mine"}}
	got := labs.Merge(first, &labs.Catalog{Labs: []*labs.Lab{mine, {Name: "c"}}})
	var names []string
	for _, l := range got.Labs {
		names = append(names, l.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" || got.Labs[0] != mine || first.Labs[0] == mine {
		t.Errorf("merged %v", names)
	}
}

func TestNoLabHereIsAProblem(t *testing.T) {
	_, err := labs.Load(fstest.MapFS{"web/task.yaml/x": {}, "README.md": {}})
	if err == nil || !strings.Contains(err.Error(), "no lab here") {
		t.Errorf("got %v", err)
	}
}

func TestDurationsAreWrittenAsGoWritesThem(t *testing.T) {
	data, err := json.Marshal(labs.HTTP{Get: "x", Within: labs.Duration(90 * time.Second)})
	if err != nil || string(data) != `{"get":"x","within":"1m30s"}` {
		t.Errorf("%s, %v", data, err)
	}
	var back labs.HTTP
	if err := json.Unmarshal(data, &back); err != nil || time.Duration(back.Within) != 90*time.Second {
		t.Errorf("%v, %v", back.Within, err)
	}
	for _, bad := range []string{`90`, `"90"`, `"-1s"`, `""`, `null1`} {
		if err := json.Unmarshal([]byte(`{"within":`+bad+`}`), &back); err == nil {
			t.Errorf("%s is taken for a duration", bad)
		}
	}
}

func FuzzLoadNeverPanics(f *testing.F) {
	files := sound(f)
	f.Add(files["demo/web/task.yaml"].Data)
	f.Add([]byte("params: {a: {oneOf: [{}, []]}}\nchecks: [null, &a {id: *a}]"))
	f.Add([]byte("hints: {{.x}}\ncases: [1]\nparams: 5"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files := sound(t)
		files["demo/web/task.yaml"] = &fstest.MapFile{Data: data}
		catalog, err := labs.Load(files)
		if err == nil {
			labs.Lint(catalog)
		}
	})
}

func TestEmbeddedCatalogueIsSoundInEveryVariant(t *testing.T) {
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	if problems := labs.Lint(catalog); len(problems) > 0 {
		t.Error(problems)
	}
	for _, lab := range catalog.Labs {
		for _, task := range lab.Tasks {
			for i := range task.Variants() {
				inst, err := task.InstanceOf(lab.Name, task.Variant(i))
				if err != nil {
					t.Error(err)
					continue
				}
				if inst.Points() == 0 || len(inst.Objects()) == 0 {
					t.Errorf("%s: %d points, %d objects", task.Ref, inst.Points(), len(inst.Objects()))
				}
			}
		}
	}
}
