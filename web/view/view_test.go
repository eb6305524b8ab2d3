package view_test

import (
	"flag"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

func page(t *testing.T, lang labs.Lang) view.Page {
	t.Helper()
	texts, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	return view.Page{
		Lang: string(lang), Path: "/here", Title: "Title",
		Langs:   []view.Language{{Tag: "en", Name: "English", Short: "EN"}, {Tag: "ja", Name: "日本語", Short: "日本語"}},
		Assets:  view.Assets{Style: "/assets/app.css", Script: "/assets/app.js", Icon: "/assets/icon.svg"},
		Cluster: view.Cluster{Ready: true, Name: "Kubernetes v1.35.4"},
		T: func(id string, pairs ...string) string {
			if !texts.Has(id) {
				t.Errorf("no message %q in every language", id)
			}
			return texts.Message(lang, grader.Msg(id, pairs...))
		},
	}
}

func moment() view.Moment {
	at := time.Date(2026, 11, 30, 19, 2, 0, 0, time.UTC)
	return view.At(at, at)
}

func lab() view.Lab {
	return view.Lab{
		Name: "ckad-multi", Path: "/labs/ckad-multi", Title: "Pods & friends", Summary: "Several containers", Solved: 1,
		Tasks: []view.TaskLine{
			{Number: 1, Path: "/labs/ckad-multi/tasks/a", Title: "One <b>", Difficulty: 1, Minutes: 5, State: view.Solved, Earned: 9, Total: 9},
			{Number: 2, Path: "/labs/ckad-multi/tasks/b", Title: "Two", Difficulty: 2, Minutes: 6, State: view.InProgress, Earned: 3, Total: 9},
			{Number: 3, Path: "/labs/ckad-multi/tasks/c", Title: "Three", Difficulty: 3, Minutes: 7, State: view.NotStarted},
		},
	}
}

func task() view.Task {
	return view.Task{
		Path: "/labs/ckad-multi/tasks/b", Lab: view.Link{Path: "/labs/ckad-multi", Title: "Pods & friends"},
		Title: "Two", Difficulty: 2, Minutes: 6, Points: 9, State: view.NotStarted,
		Prompt: template.HTML("<p>Create a Pod.</p>"), Docs: []string{"https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/"},
		Namespace: "ckad-multi", Kubeconfig: "/home/a user/kubeconfig",
		Removes: []string{"ConfigMap/web-config", "Pod/web"},
		Checks:  view.Checks{Total: 9, Rows: []view.Check{{ID: "native", Title: "`web` & its sidecar", Points: 3}}},
		Help:    view.Help{HintCount: 2},
	}
}

func graded() view.Task {
	m, at := task(), moment()
	m.State, m.Started = view.InProgress, true
	m.Previous, m.Next = &view.Link{Path: "/p", Title: "One"}, &view.Link{Path: "/n", Title: "Three"}
	m.Checks = view.Checks{
		Earned: 1, Total: 9, At: &at, Verdict: view.Error, Passed: 1, Failed: 1, Waiting: 1, Unknown: 1,
		Rows: []view.Check{
			{ID: "web", Title: "`web` runs", Points: 1, Earned: 1, Verdict: view.Pass, Reason: "It runs.", Rank: "reported", Where: "Pod/web", Docs: "https://kubernetes.io/docs/"},
			{
				ID: "native", Title: "A native sidecar", Points: 3, Verdict: view.Fail, Reason: "`shipper` has no restartPolicy.", Rank: "declared",
				Where: "Pod/web spec.initContainers[shipper]", Expected: "Always", Observed: "<unset>", Because: "It must run along.",
				Docs: "https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/",
			},
			{ID: "ships", Title: "It ships", Points: 3, Verdict: view.Pending, Reason: "Not in the log yet.", Rank: "probed", Excerpt: "a <line>\n"},
			{ID: "stops", Title: "It stops in order", Points: 2, Verdict: view.Error, Reason: "No answer.", Rank: "tried"},
		},
	}
	m.Attempts = []view.Attempt{{Number: 2, At: at, Verdict: view.Error, Earned: 1, Total: 9, Seconds: 12}, {Number: 1, At: at, Verdict: view.Fail, Total: 9, Seconds: 3}}
	m.Help.Hints = []template.HTML{"<p>Look closer.</p>"}
	return m
}

// lively is a task in work: some rows show how things stand, one its grading.
func lively() view.Task {
	m := graded()
	m.Checks.Live = "on"
	for i := range m.Checks.Rows[1:] {
		m.Checks.Rows[1+i].Live = true
	}
	return m
}

func solved() view.Task {
	m, at := graded(), moment()
	m.State, m.SolvedAt = view.Solved, &at
	m.Checks.Rows = m.Checks.Rows[:1]
	m.Checks.Verdict, m.Checks.Earned, m.Checks.Total = view.Pass, 1, 1
	m.Help.Hints = append(m.Help.Hints, "<p>Closer still.</p>")
	m.Help.Solution = "<h2>Why</h2>"
	m.Notice = &view.Notice{Text: "Reset."}
	return m
}

func beforeStart() view.Task {
	m := task()
	m.HasSetup = true
	m.Notice = &view.Notice{Bad: true, Text: "Not now."}
	return m
}

func TestPagesAreAsTheyWereAgreed(t *testing.T) {
	steps := []view.Step{{Text: "Start etcd", Done: true}, {Text: "Start the node"}}
	failed := []view.Step{steps[0], {Text: "Start the node", Problem: "no runc"}}
	line := lab().Tasks[1]
	for name, c := range map[string]struct {
		lang    labs.Lang
		theme   view.Theme
		cluster *view.Cluster
		page    func(view.Page) templ.Component
	}{
		"home": {page: func(p view.Page) templ.Component {
			return view.HomePage(p, view.Home{Labs: []view.Lab{lab()}, Solved: 1, Total: 3, Resume: &line})
		}},
		"home-empty":       {page: func(p view.Page) templ.Component { return view.HomePage(p, view.Home{}) }},
		"lab-ja-dark":      {lang: labs.Japanese, theme: view.Dark, page: func(p view.Page) templ.Component { return view.LabPage(p, lab()) }},
		"task-new":         {page: func(p view.Page) templ.Component { return view.TaskPage(p, task()) }},
		"task-before":      {page: func(p view.Page) templ.Component { return view.TaskPage(p, beforeStart()) }},
		"task-graded":      {page: func(p view.Page) templ.Component { return view.TaskPage(p, graded()) }},
		"task-graded-ja":   {lang: labs.Japanese, page: func(p view.Page) templ.Component { return view.TaskPage(p, graded()) }},
		"task-live":        {page: func(p view.Page) templ.Component { return view.TaskPage(p, lively()) }},
		"task-live-ja":     {lang: labs.Japanese, page: func(p view.Page) templ.Component { return view.TaskPage(p, lively()) }},
		"task-solved":      {page: func(p view.Page) templ.Component { return view.TaskPage(p, solved()) }},
		"task-no-cluster":  {cluster: &view.Cluster{Steps: steps}, page: func(p view.Page) templ.Component { m := beforeStart(); m.Kubeconfig = ""; return view.TaskPage(p, m) }},
		"task-busy":        {page: func(p view.Page) templ.Component { m := graded(); m.Busy = "grade"; return view.TaskPage(p, m) }},
		"cluster-starting": {cluster: &view.Cluster{Steps: steps}, page: view.ClusterPage},
		"cluster-failed":   {cluster: &view.Cluster{Failed: true, Steps: failed, Problem: "no runc\napt install runc"}, page: view.ClusterPage},
		"cluster-ready":    {page: view.ClusterPage},
		"error": {page: func(p view.Page) templ.Component {
			return view.ErrorPage(p, view.Problem{Status: 404, Title: "No", Text: "Nothing <here>"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.lang == "" {
				c.lang = labs.English
			}
			p := page(t, c.lang)
			p.Theme = c.theme
			if c.cluster != nil {
				p.Cluster = *c.cluster
			}
			var b strings.Builder
			if err := c.page(p).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			got := pretty(b.String())
			if found := regexp.MustCompile(`(?i)<[^>]*\s(style|on[a-z]+)=|<style|javascript:|<script>`).FindString(got); found != "" {
				t.Errorf("the Content-Security-Policy refuses %q", found)
			}
			for _, id := range doubled(got) {
				t.Errorf("two elements have the id %q", id)
			}
			golden(t, filepath.Join("testdata", name+".html"), got)
		})
	}
}

// pretty gives each tag a line, so that a difference can be read.
func pretty(html string) string { return strings.ReplaceAll(html, "><", ">\n<") + "\n" }

func doubled(html string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if seen[m[1]] {
			out = append(out, m[1])
		}
		seen[m[1]] = true
	}
	return out
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); look at it and run with -update:\n%s", file, diff)
	}
}
