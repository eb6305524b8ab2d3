package labs

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
)

// Variants is the number of ways to choose the task's params, at least 1.
func (t *Task) Variants() int {
	n := 1
	for _, p := range t.Params {
		n *= len(p.OneOf)
	}
	return n
}

// Variant returns the params of the n-th variant, for n from 0 to Variants()-1.
func (t *Task) Variant(n int) map[string]any {
	params := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(t.Params)) {
		values := t.Params[name].OneOf
		params[name] = values[n%len(values)]
		n /= len(values)
	}
	return params
}

// Instance renders the task for a namespace with params that follow from seed:
// the same seed always chooses the same values, each param by itself.
func (t *Task) Instance(namespace string, seed uint64) (*Instance, error) {
	params := map[string]any{}
	for name, p := range t.Params {
		sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), name...))
		params[name] = p.OneOf[binary.BigEndian.Uint64(sum[:8])%uint64(len(p.OneOf))]
	}
	return t.InstanceOf(namespace, params)
}

// InstanceOf renders the task with the given params, which must be just those
// that it declares, each with one of its values.
func (t *Task) InstanceOf(namespace string, params map[string]any) (*Instance, error) {
	if err := t.allows(params); err != nil {
		return nil, fmt.Errorf("task %s: %w", t.Ref, err)
	}
	inst, problems := t.instance(namespace, params)
	if err := problems.err(); err != nil {
		return nil, fmt.Errorf("task %s: %w", t.Ref, err)
	}
	return inst, nil
}

func (t *Task) allows(params map[string]any) error {
	for name := range params {
		if _, ok := t.Params[name]; !ok {
			return fmt.Errorf("there is no param %q", name)
		}
	}
	for name, p := range t.Params {
		if v, ok := params[name]; !ok || !slices.Contains(p.OneOf, normal(v)) {
			return fmt.Errorf("param %q must be one of %v, not %v", name, p.OneOf, v)
		}
	}
	return nil
}

// normal turns a number of any Go type into the one that params hold.
func normal(v any) any {
	switch x := reflect.ValueOf(v); {
	case x.IsValid() && x.CanInt():
		return x.Int()
	case x.IsValid() && x.CanFloat():
		// A number that went through JSON comes back as a float.
		if f := x.Float(); f == float64(int64(f)) {
			return int64(f)
		}
		return x.Float()
	}
	return v
}

// instance renders everything and reports all that can't be.
func (t *Task) instance(namespace string, params map[string]any) (*Instance, Problems) {
	data := map[string]any{namespaceParam: namespace}
	for name, v := range params {
		data[name] = normal(v)
	}
	inst := &Instance{Task: t, Namespace: namespace, Params: maps.Clone(data), data: data}
	delete(inst.Params, namespaceParam)

	var tf taskFile
	problems := t.doc.decodeWith(data, &tf)
	inst.Checks, inst.Hints, inst.Cases, inst.file = tf.Checks, tf.Hints, tf.Cases, tf
	text := func(name string) string {
		s, ok := t.sources[name]
		if !ok {
			return ""
		}
		out, err := s.render(data)
		if err != nil {
			problems = append(problems, Problem{path.Join(t.dir, name), errorLine(err), 0, err.Error()})
		}
		return out
	}
	inst.Prompt = Text{EN: text("prompt.en.md"), JA: text("prompt.ja.md")}
	inst.Solution = Text{EN: text("solution.en.md"), JA: text("solution.ja.md")}
	inst.Setup = text("setup.yaml")
	for _, name := range []string{"solution.sh", "solution.yaml"} {
		if _, ok := t.sources[name]; ok {
			inst.Answer = Script{File: name, Text: text(name)}
		}
	}
	return inst, problems
}

// Case renders an answer of the task's folder: "accepted/imperative.sh",
// "rejected/plain-init.yaml" or "solution.yaml".
func (i *Instance) Case(file string) (Script, error) {
	s, ok := i.Task.sources[file]
	if !ok {
		return Script{}, fmt.Errorf("task %s has no file %s", i.Task.Ref, file)
	}
	text, err := s.render(i.data)
	if err != nil {
		return Script{}, fmt.Errorf("task %s: %s: %w", i.Task.Ref, file, err)
	}
	return Script{File: file, Text: text}, nil
}

// Path is the case's file in the task's folder, as Instance.Case takes it.
func (c AcceptedCase) Path() string { return path.Join("accepted", c.File) }

// Path is the case's file in the task's folder, as Instance.Case takes it.
func (c RejectedCase) Path() string { return path.Join("rejected", c.File) }
