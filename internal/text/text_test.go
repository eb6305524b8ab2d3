package text_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
)

func newCatalog(t *testing.T) *text.Catalog {
	t.Helper()
	c, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryLanguageHasTheSameMessages(t *testing.T) {
	c := newCatalog(t)
	want := c.IDs(labs.English)
	for _, lang := range labs.Langs() {
		if diff := cmp.Diff(want, c.IDs(lang)); diff != "" {
			t.Errorf("%s differs from en (-en +%s):\n%s", lang, lang, diff)
		}
	}
}

func TestEveryLanguageNamesTheSameValues(t *testing.T) {
	c := newCatalog(t)
	for _, id := range c.IDs(labs.English) {
		want := fields(t, id, c.Source(labs.English, id))
		for _, lang := range labs.Langs() {
			got := fields(t, id, c.Source(lang, id))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s names other values than en (-en +%s):\n%s", id, lang, lang, diff)
			}
		}
	}
}

func TestNoMessageIsEmpty(t *testing.T) {
	c := newCatalog(t)
	for _, lang := range labs.Langs() {
		for _, id := range c.IDs(lang) {
			if strings.TrimSpace(c.Source(lang, id)) == "" {
				t.Errorf("%s: %s is empty", lang, id)
			}
		}
	}
}

func TestRenderFillsInValues(t *testing.T) {
	c := newCatalog(t)
	tests := []struct {
		name string
		lang labs.Lang
		msg  grader.Message
		want string
	}{
		{"English", labs.English, grader.Msg("study.noTask", "task", "a/b"), `There is no task "a/b".`},
		{"Japanese", labs.Japanese, grader.Msg("study.noTask", "task", "a/b"), "「a/b」という課題はありません。"},
		{"unknown language falls back to English", "fr", grader.Msg("study.noTask", "task", "a/b"), `There is no task "a/b".`},
		{"unknown message shows itself", labs.English, grader.Msg("no.such", "b", "2", "a", "1"), "no.such a=1 b=2"},
		{"values are text, never templates", labs.English, grader.Msg("study.noTask", "task", "{{.x}}"), `There is no task "{{.x}}".`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.Message(tt.lang, tt.msg); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// fields returns the names of the values that a message uses.
func fields(t *testing.T, id, source string) []string {
	t.Helper()
	tmpl, err := template.New(id).Parse(source)
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return nil
	}
	names := map[string]bool{}
	var walk func(parse.Node)
	walk = func(n parse.Node) {
		switch n := n.(type) {
		case *parse.ListNode:
			if n == nil {
				return
			}
			for _, c := range n.Nodes {
				walk(c)
			}
		case *parse.ActionNode:
			walk(n.Pipe)
		case *parse.PipeNode:
			for _, c := range n.Cmds {
				walk(c)
			}
		case *parse.CommandNode:
			for _, a := range n.Args {
				walk(a)
			}
		case *parse.FieldNode:
			names[n.Ident[0]] = true
		case *parse.IfNode:
			walk(n.Pipe)
			walk(n.List)
			walk(n.ElseList)
		}
	}
	walk(tmpl.Root)
	return slices.Sorted(maps.Keys(names))
}
