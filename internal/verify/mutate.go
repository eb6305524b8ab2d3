package verify

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/podproof/podproof/labs"
)

// mutateAll tries the mutants of every right answer that is a manifest, and
// lists those that score full without a word of the task's that they may.
func (r *runner) mutateAll(ctx context.Context, tasks []*labs.Task, result *Result) error {
	var work []job
	for i, t := range tasks {
		specs, err := mutantsOf(t)
		if err != nil {
			return fmt.Errorf("verify: mutants of %s: %w", t.Ref, err)
		}
		result.Tasks[i].Mutants = len(specs)
		for _, s := range specs {
			work = append(work, job{task: t, place: i, spec: s})
		}
	}
	tried, err := r.runAll(ctx, work, "m")
	if err != nil {
		return err
	}
	for i, c := range tried {
		t := &result.Tasks[work[i].place]
		switch {
		case c.Outcome == WrongAccepted && !justified(work[i].task, c.Mutant):
			t.Survivors = append(t.Survivors, Mutant{File: c.File, Name: c.Mutant})
		case c.Outcome == Undecided || c.Outcome == Broken || c.Outcome == Untidy:
			t.Cases = append(t.Cases, c)
		}
	}
	return nil
}

func mutantsOf(t *labs.Task) ([]spec, error) {
	inst, err := t.InstanceOf("namespace", t.Variant(0))
	if err != nil {
		return nil, err
	}
	files := []string{t.Answer.File}
	for _, c := range t.Cases.Accepted {
		files = append(files, c.Path())
	}
	var specs []spec
	seen := map[string]bool{}
	for _, file := range files {
		script, err := inst.Case(file)
		if err != nil {
			return nil, err
		}
		if script.Shell() {
			continue
		}
		list, err := mutants(script.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, m := range list {
			if seen[m.text] {
				continue
			}
			seen[m.text] = true
			specs = append(specs, spec{kind: Mutated, file: file, text: m.text, mutant: path.Base(file) + ": " + m.name})
		}
	}
	return specs, nil
}

// justified tells whether the task says that a mutant is a right answer too.
func justified(t *labs.Task, name string) bool {
	return slices.ContainsFunc(t.Cases.Equivalent, func(e labs.Equivalent) bool {
		ok, err := path.Match(e.Mutant, name)
		return e.Mutant == name || err == nil && ok
	})
}
