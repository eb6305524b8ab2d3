package labs

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxVariants bounds the variants of a task that Load decodes. Where there are
// more, each value of each param still has its turn.
const maxVariants = 64

// decodeParams reads the params, which are not rendered themselves.
func (t *Task) decodeParams() Problems {
	n := at(t.doc.root, "params")
	if n == t.doc.root {
		return nil
	}
	dec := &decoder{file: t.doc.file}
	dec.decode(n, reflect.ValueOf(&t.Params).Elem(), rules{})
	name := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	dec.eachPair(n, func(key, value *yaml.Node) {
		switch {
		case key.Value == namespaceParam:
			dec.problem(key, "namespace is always there: a param can't have its name")
		case !name.MatchString(key.Value):
			dec.problem(key, "param %q must be letters and digits, beginning with a small letter", key.Value)
		}
		seen := map[any]bool{}
		for i, v := range t.Params[key.Value].OneOf {
			item := at(value, "oneOf", i)
			switch x := normal(v).(type) {
			case string, bool, int64, float64:
				if seen[x] {
					dec.problem(item, "value %v stands here twice", x)
				}
				seen[x] = true
				t.Params[key.Value].OneOf[i] = x
			default:
				dec.problem(item, "a param's value must be text, a number or a boolean, not %s", describe(item))
			}
			if t.doc.sources[item] != nil {
				dec.problem(item, "a param's value can't hold an action")
			}
		}
	})
	return dec.problems
}

// checkParams reports params that are mentioned but not declared and the reverse.
func (t *Task) checkParams() Problems {
	var problems Problems
	used := map[string]bool{}
	names := append(slices.Sorted(maps.Keys(t.Params)), namespaceParam)
	check := func(file string, ref reference, line, column int) {
		used[ref.name] = true
		if !slices.Contains(names, ref.name) {
			problems = append(problems, Problem{file, line, column,
				fmt.Sprintf("there is no param %q%s", ref.name, didYouMean(ref.name, names))})
		}
	}
	for node, s := range t.doc.sources {
		for _, ref := range s.refs {
			check(t.doc.file, ref, node.Line, node.Column)
		}
	}
	for name, s := range t.sources {
		for _, ref := range s.refs {
			line, column := s.position(ref.offset)
			check(path.Join(t.dir, name), ref, line, column)
		}
	}
	if n := at(t.doc.root, "params"); n != t.doc.root && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; !used[key.Value] {
				problems = append(problems, t.doc.problem(key, "param %q is never used", key.Value))
			}
		}
	}
	return problems
}

// sample returns the params of all variants, or of as many as give every
// value its turn.
func (t *Task) sample() []map[string]any {
	var out []map[string]any
	if n := t.Variants(); n <= maxVariants {
		for i := range n {
			out = append(out, t.Variant(i))
		}
		return out
	}
	longest := 0
	for _, p := range t.Params {
		longest = max(longest, len(p.OneOf))
	}
	for i := range longest {
		params := map[string]any{}
		for name, p := range t.Params {
			params[name] = p.OneOf[i%len(p.OneOf)]
		}
		out = append(out, params)
	}
	return out
}

// decodeVariants decodes and validates the task with each choice of params. A
// problem that several choices share is reported once, and none where an
// earlier step has found one.
func (t *Task) decodeVariants(earlier Problems) Problems {
	for _, p := range t.Params {
		if len(p.OneOf) == 0 {
			return nil // there is no variant
		}
	}
	var problems Problems
	type place struct {
		file         string
		line, column int
	}
	known := map[place]bool{}
	for _, p := range earlier {
		known[place{p.File, p.Line, p.Column}] = true
	}
	for i, params := range t.sample() {
		inst, found := t.instance(t.Ref.Lab, params)
		found = append(found, t.validate(inst)...)
		for _, name := range slices.Sorted(maps.Keys(t.sources)) {
			if _, err := t.sources[name].render(inst.data); err != nil && strings.Contains(name, "/") {
				found = append(found, Problem{path.Join(t.dir, name), errorLine(err), 0, err.Error()})
			}
		}
		fresh := map[place]bool{}
		for _, p := range found {
			if at := (place{p.File, p.Line, p.Column}); !known[at] {
				problems = append(problems, p)
				fresh[at] = true
			}
		}
		maps.Copy(known, fresh)
		if i == 0 {
			f := inst.file
			t.Title, t.Curriculum, t.Difficulty, t.Minutes = f.Title, f.Curriculum, f.Difficulty, f.Minutes
			t.Docs = f.Docs
		}
	}
	// Hints and cases keep their actions, as the texts do.
	dec := &decoder{file: t.doc.file}
	dec.decode(at(t.doc.root, "hints"), reflect.ValueOf(&t.Hints).Elem(), rules{})
	dec.decode(at(t.doc.root, "cases"), reflect.ValueOf(&t.Cases).Elem(), rules{})
	for _, key := range []string{"title", "curriculum", "docs", "cases"} {
		problems = append(problems, t.constant(at(t.doc.root, key), key)...)
	}
	return problems
}

// constant reports actions where a value must be the same for every learner.
func (t *Task) constant(n *yaml.Node, key string) Problems {
	var problems Problems
	if t.doc.sources[n] != nil && !isSays(t.doc.root, n) {
		problems = append(problems, t.doc.problem(n, "%s is the same for every learner: no {{ }} here", key))
	}
	for _, c := range n.Content {
		problems = append(problems, t.constant(c, key)...)
	}
	return problems
}

// isSays reports whether n is the says of a rejected case, which may hold a param.
func isSays(root, n *yaml.Node) bool {
	for _, c := range at(root, "cases", "rejected").Content {
		if at(c, "says") == n {
			return true
		}
	}
	return false
}

// validate reports what decoding alone can't see.
func (t *Task) validate(inst *Instance) Problems {
	problems := t.validateCases(inst)
	ids := map[string]int{}
	for i, c := range inst.Checks {
		here := at(t.doc.root, "checks", i)
		if _, twice := ids[c.ID]; twice {
			problems = append(problems, t.doc.problem(at(here, "id"), "check %q stands here twice", c.ID))
		}
		for j, need := range c.Needs {
			if _, earlier := ids[need]; !earlier {
				problems = append(problems, t.doc.problem(at(here, "needs", j),
					"there is no earlier check %q%s", need, didYouMean(need, slices.Sorted(maps.Keys(ids)))))
			}
		}
		ids[c.ID] = i
		problems = append(problems, t.validateCheck(here, c)...)
	}
	return problems
}

func (t *Task) validateCases(inst *Instance) Problems {
	var problems Problems
	ids := make([]string, len(inst.Checks))
	for i, c := range inst.Checks {
		ids[i] = c.ID
	}
	listed := map[string]bool{}
	file := func(here *yaml.Node, name string) {
		switch _, ok := t.sources[name]; {
		case listed[name]:
			problems = append(problems, t.doc.problem(here, "file %s is listed twice", name))
		case !ok:
			problems = append(problems, t.doc.problem(here, "there is no file %s", name))
		}
		listed[name] = true
	}
	for i, c := range inst.Cases.Accepted {
		file(at(t.doc.root, "cases", "accepted", i, "file"), c.Path())
	}
	for i, c := range inst.Cases.Rejected {
		here := at(t.doc.root, "cases", "rejected", i)
		file(at(here, "file"), c.Path())
		for j, id := range c.Fails {
			switch {
			case !slices.Contains(ids, id):
				problems = append(problems, t.doc.problem(at(here, "fails", j),
					"there is no check %q%s", id, didYouMean(id, ids)))
			case slices.Contains(c.Fails[:j], id):
				problems = append(problems, t.doc.problem(at(here, "fails", j), "check %q stands here twice", id))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.sources)) {
		if strings.Contains(name, "/") && !listed[name] {
			problems = append(problems, t.doc.problem(at(t.doc.root, "cases"), "file %s is not listed", name))
		}
	}
	return problems
}

// validateCheck reports a check without a clear subject or with matchers that
// contradict themselves.
func (t *Task) validateCheck(here *yaml.Node, c Check) Problems {
	var problems Problems
	report := func(n *yaml.Node, format string, args ...any) {
		problems = append(problems, t.doc.problem(n, format, args...))
	}
	matchers := c.Matchers()
	if len(matchers) == 0 {
		report(here, "check %q judges nothing: it needs a matcher", c.ID)
	}
	var subjects []string
	for _, m := range fieldsOf(reflect.ValueOf(c.Subject)) {
		subjects = append(subjects, m.name)
	}
	switch {
	case len(subjects) > 1:
		report(here, "check %q has %d subjects, %s: it must have one", c.ID, len(subjects), strings.Join(subjects, " and "))
	case len(subjects) == 0 && !slices.Equal(matchers, []string{"cel"}) && len(matchers) > 0:
		report(here, "check %q names no object: only cel can do without", c.ID)
	}
	for i, f := range c.Fields {
		given := 0
		for _, is := range []bool{f.Equals != nil, f.OneOf != nil, f.Contains != nil, f.Exists != nil} {
			if is {
				given++
			}
		}
		if given != 1 {
			report(at(here, "fields", i), "a field has exactly one of equals, oneOf, contains, exists")
		}
	}
	if c.Trial != nil {
		if n := len(fieldsOf(reflect.ValueOf(*c.Trial))); n-boolInt(c.Trial.Within != 0) != 1 {
			report(at(here, "trial"), "a trial has exactly one of run, failInit, kill, delete")
		}
	}
	for key, m := range map[string]*Match{"exec": match(c.Exec), "http": match(c.HTTP), "logs": match(c.Logs)} {
		if m == nil || m.Matches == "" {
			continue
		}
		if _, err := regexp.Compile(m.Matches); err != nil {
			report(at(here, key, "matches"), "%v", err)
		}
	}
	return problems
}

// match returns the Match inlined in a matcher, nil where there is no matcher.
func match[T Exec | HTTP | Logs](m *T) *Match {
	if m == nil {
		return nil
	}
	switch m := any(m).(type) {
	case *Exec:
		return &m.Match
	case *HTTP:
		return &m.Match
	case *Logs:
		return &m.Match
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Matchers lists the keys of the matchers that the check has, in the order in
// which they are run.
func (c Check) Matchers() []string {
	var out []string
	for _, m := range fieldsOf(reflect.ValueOf(c)) {
		if m.index[0] >= matchersFrom() {
			out = append(out, m.name)
		}
	}
	return out
}

// matchersFrom is the index of the first matcher among the fields of Check:
// those behind its subject.
func matchersFrom() int {
	f, _ := reflect.TypeFor[Check]().FieldByName("Subject")
	return f.Index[0] + 1
}

// fieldsOf lists the members of a struct that are set.
func fieldsOf(v reflect.Value) []member {
	var out []member
	for _, m := range members(v.Type()) {
		if !v.FieldByIndex(m.index).IsZero() {
			out = append(out, m)
		}
	}
	return out
}
