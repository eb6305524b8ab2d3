package labs

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lint reports what is wrong with a catalogue that Load finds sound: what a
// learner would stumble on, or a grader could not prove. It needs no cluster.
func Lint(c *Catalog) Problems {
	var problems Problems
	for _, lab := range c.Labs {
		owners := map[string]Ref{}
		for _, t := range lab.Tasks {
			l := &linter{task: t}
			l.lint(owners)
			problems = append(problems, l.problems...)
		}
	}
	return problems.sorted()
}

// sentinel is the namespace that lint renders tasks for: a manifest that names
// any other has it written out.
const sentinel = "lint-namespace"

// linter lints one task.
type linter struct {
	task     *Task
	inst     *Instance
	problems Problems
}

// report notes a problem at a place in one of the task's files.
func (l *linter) report(file string, line, column int, format string, args ...any) {
	l.problems = append(l.problems, Problem{path.Join(l.task.dir, file), line, column, fmt.Sprintf(format, args...)})
}

// reportAt notes a problem at a path in task.yaml.
func (l *linter) reportAt(where []any, format string, args ...any) {
	n := at(l.task.doc.root, where...)
	l.report("task.yaml", n.Line, n.Column, format, args...)
}

func (l *linter) lint(owners map[string]Ref) {
	inst, problems := l.task.instance(sentinel, l.task.Variant(0))
	if len(problems) > 0 {
		l.problems = problems
		return
	}
	l.inst = inst
	l.lintMeta()
	l.lintCases()
	l.lintChecks()
	l.lintPrompt()
	l.lintTexts()
	l.lintAnswers()
	l.lintOwners(owners)
}

func (l *linter) lintMeta() {
	t := l.task
	if n := len(t.Hints); n < 2 || n > 4 {
		l.reportAt([]any{"hints"}, "a task has 2 to 4 hints, not %d", n)
	}
	for i, doc := range t.Docs {
		if !strings.HasPrefix(doc, "https://kubernetes.io/") {
			l.reportAt([]any{"docs", i}, "%s is no page of https://kubernetes.io/", doc)
		}
	}
}

func (l *linter) lintCases() {
	cases := l.inst.Cases
	if n := len(cases.Accepted); n < 3 {
		l.reportAt([]any{"cases", "accepted"}, "a task has at least 3 accepted cases, not %d", n)
	}
	if n := len(cases.Rejected); n < 4 {
		l.reportAt([]any{"cases", "rejected"}, "a task has at least 4 rejected cases, not %d", n)
	}
	failed := map[string]bool{}
	for _, c := range cases.Rejected {
		for _, id := range c.Fails {
			failed[id] = true
		}
	}
	for i, c := range l.inst.Checks {
		if !failed[c.ID] {
			l.reportAt([]any{"checks", i, "id"}, "no rejected case fails the check %q", c.ID)
		}
	}
	l.lintEffect()
}

// lintEffect reports cases that prove nothing, because another one, or the
// reference answer, says just the same.
func (l *linter) lintEffect() {
	known := map[string]string{l.meaning(l.inst.Answer): "the reference answer"}
	check := func(where []any, file string) {
		s, err := l.inst.Case(file)
		if err != nil {
			return
		}
		m := l.meaning(s)
		if other, same := known[m]; same {
			l.reportAt(where, "%s has no effect: it is the same as %s", file, other)
			return
		}
		known[m] = file
	}
	for i, c := range l.inst.Cases.Accepted {
		check([]any{"cases", "accepted", i, "file"}, c.Path())
	}
	for i, c := range l.inst.Cases.Rejected {
		check([]any{"cases", "rejected", i, "file"}, c.Path())
	}
}

// meaning is a text that two answers share when they are the same but for
// comments and layout.
func (l *linter) meaning(s Script) string {
	if s.Shell() {
		var lines []string
		for line := range strings.Lines(s.Text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	nodes, _ := parseYAML(s.File, s.Text)
	var out strings.Builder
	for _, n := range nodes {
		data, err := json.Marshal((&decoder{}).value(n)) // in the order of keys
		if err != nil {
			return s.Text
		}
		out.Write(data)
	}
	return out.String()
}

// lintOwners reports objects that an earlier task of the lab names too, for
// the tasks of a lab share a namespace.
func (l *linter) lintOwners(owners map[string]Ref) {
	variants := []map[string]any{l.task.Variant(0), l.task.Variant(l.task.Variants() - 1)}
	for _, params := range variants {
		inst, problems := l.task.instance(sentinel, params)
		if len(problems) > 0 {
			continue
		}
		for _, o := range inst.Objects() {
			if owner, taken := owners[o.String()]; taken && owner != l.task.Ref {
				n := l.mention(o.Name)
				l.report("task.yaml", n.Line, n.Column, "%s belongs to task %s already: names are unique within a lab", o, owner.Task)
				continue
			}
			owners[o.String()] = l.task.Ref
		}
	}
}

// mention is the check that names an object, or else the list of checks.
func (l *linter) mention(name string) *yaml.Node {
	checks := at(l.task.doc.root, "checks")
	for _, c := range checks.Content {
		if c.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(c.Content); i += 2 {
			if slices.Contains(subjectKeys(), c.Content[i].Value) && c.Content[i+1].Value == name {
				return c.Content[i+1]
			}
		}
	}
	return checks
}

func subjectKeys() []string {
	var out []string
	for _, m := range members(reflect.TypeFor[Subject]()) {
		out = append(out, m.name)
	}
	return out
}
