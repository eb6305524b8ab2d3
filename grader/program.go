package grader

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/podproof/podproof/labs"
)

// Mode says how deep an evaluation looks.
type Mode string

// The modes.
const (
	// Live looks once at declared and reported evidence; a check that would
	// go on to probe stays pending. It asks nothing of the Pods.
	Live Mode = "live"
	// Submit probes and tries too, and waits for what is still starting.
	Submit Mode = "submit"
)

// Options of an evaluation. The zero value means Live.
type Options struct {
	Mode Mode
	// Nonce replaces {{nonce}} in checks; left empty, a fresh one is drawn.
	Nonce string
}

// Program is a task's checks, compiled once and evaluated often. It is safe
// for concurrent use.
type Program struct {
	task      string
	namespace string
	checks    []check
	kinds     []Kind
}

// check is one compiled check: its steps stand in the order of their ranks.
type check struct {
	spec  *labs.Check
	ref   ref
	needs []int // places of the checks that must pass first; all stand earlier in order
	steps []step
}

// step is one condition. Exactly one of look and act is set: look judges the
// snapshot alone, act asks the cluster. An error means that it could not look.
type step struct {
	rank   Rank
	within time.Duration // 0 stands for the rank's own patience
	look   lookFunc
	act    actFunc
	// past judges a subject that was removed after its end by the recorder's
	// history; nil where that can't tell.
	past lookFunc
	// name tells the step's outcome apart in stored evidence; only trials have one.
	name string
}

// Compile readies the checks of a task. The error joins every problem found.
func Compile(inst *labs.Instance) (*Program, error) {
	p := &Program{namespace: inst.Namespace}
	if inst.Task != nil {
		p.task = inst.Task.Ref.String()
	}
	var problems []error
	kinds := map[Kind]bool{}
	place := map[string]int{}
	for i := range inst.Checks {
		spec := &inst.Checks[i]
		if _, twice := place[spec.ID]; twice {
			problems = append(problems, fmt.Errorf("check %q: the id is used twice", spec.ID))
		}
		place[spec.ID] = i
	}
	for i := range inst.Checks {
		spec := &inst.Checks[i]
		c, errs := compileCheck(spec, inst.Checks, kinds)
		for _, err := range errs {
			problems = append(problems, fmt.Errorf("check %q: %w", spec.ID, err))
		}
		for _, id := range spec.Needs {
			j, ok := place[id]
			if !ok {
				problems = append(problems, fmt.Errorf("check %q: needs %q, which does not exist", spec.ID, id))
				continue
			}
			c.needs = append(c.needs, j)
		}
		p.checks = append(p.checks, c)
	}
	for i := range p.checks {
		if p.circular(i, i, map[int]bool{}) {
			problems = append(problems, fmt.Errorf("check %q: needs itself", p.checks[i].spec.ID))
		}
	}
	for k := range kinds {
		p.kinds = append(p.kinds, k)
	}
	slices.Sort(p.kinds)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return p, nil
}

func (p *Program) circular(start, at int, seen map[int]bool) bool {
	for _, next := range p.checks[at].needs {
		if next == start {
			return true
		}
		if next < len(p.checks) && !seen[next] {
			seen[next] = true
			if p.circular(start, next, seen) {
				return true
			}
		}
	}
	return false
}

// Kinds lists the kinds of object that the checks look at, sorted.
func (p *Program) Kinds() []Kind { return slices.Clone(p.kinds) }

// Mentions reports whether the checks look at objects of a kind.
func (p *Program) Mentions(kind Kind) bool { return slices.Contains(p.kinds, kind) }

// Namespace is where the checks look.
func (p *Program) Namespace() string { return p.namespace }

// Points is the most that the checks can earn.
func (p *Program) Points() int {
	n := 0
	for i := range p.checks {
		n += p.checks[i].spec.Points
	}
	return n
}
