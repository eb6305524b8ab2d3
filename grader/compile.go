package grader

import (
	"fmt"
	"slices"
	"time"

	"github.com/podproof/podproof/labs"
)

// compiler gathers a check's steps, the kinds that they look at, and what is
// wrong with it.
type compiler struct {
	spec  *labs.Check
	all   []labs.Check // of the task
	ref   ref
	kinds map[Kind]bool
	steps []step
	errs  []error
}

func (c *compiler) problem(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *compiler) see(kinds ...Kind) {
	for _, k := range kinds {
		c.kinds[k] = true
	}
}

func (c *compiler) look(r Rank, within labs.Duration, f lookFunc) {
	c.steps = append(c.steps, step{rank: r, within: time.Duration(within), look: f})
}

func (c *compiler) probe(within labs.Duration, f actFunc) {
	c.steps = append(c.steps, step{rank: Probed, within: time.Duration(within), act: f})
}

func (c *compiler) try(name string, f actFunc) {
	c.steps = append(c.steps, step{rank: Tried, name: name, act: f})
}

// on reports a matcher that cannot be about the check's subject.
func (c *compiler) on(matcher string, kinds ...Kind) bool {
	if slices.Contains(kinds, c.ref.kind) {
		return true
	}
	if c.ref.name == "" {
		c.problem("%s needs a subject: one of %v", matcher, kinds)
	} else {
		c.problem("%s cannot be about a %s: only %v", matcher, c.ref.kind, kinds)
	}
	return false
}

// withPods are the kinds that have a Pod template.
func withPods() []Kind { return []Kind{KindPod, KindDeployment, KindJob, KindCronJob} }

func compileCheck(spec *labs.Check, all []labs.Check, kinds map[Kind]bool) (check, []error) {
	c := &compiler{spec: spec, all: all, kinds: kinds}
	subjects := refsOf(spec.Subject)
	switch len(subjects) {
	case 0:
		if spec.CEL == "" {
			c.problem("names no subject: give pod, deployment, job, cronJob, service, configMap or secret")
		}
	case 1:
		c.ref = subjects[0]
		c.see(kindsFor(c.ref.kind)...)
	default:
		c.problem("names %d subjects: give one", len(subjects))
		c.ref = subjects[0]
	}
	c.matchers()
	if len(c.steps) == 0 && len(c.errs) == 0 {
		c.problem("asks for nothing: give a matcher")
	}
	// What is cheap and sure comes first, whatever the matcher.
	slices.SortStableFunc(c.steps, func(a, b step) int { return order(a.rank) - order(b.rank) })
	return check{spec: spec, ref: c.ref, steps: c.steps}, c.errs
}

func order(r Rank) int { return slices.Index([]Rank{Declared, Reported, Probed, Tried}, r) }

// matchers compiles every matcher of the check, in the order of labs.Check.
func (c *compiler) matchers() {
	k := c.spec
	if k.Labels != nil {
		c.labels(k.Labels)
	}
	for i := range k.Fields {
		c.field(&k.Fields[i])
	}
	if k.Process != nil {
		c.process(k.Process)
	}
	if k.Resources != nil {
		c.resources(k.Resources)
	}
	if k.InitOrder != nil {
		c.initOrder(k.InitOrder)
	}
	if k.NativeSidecar != nil {
		c.nativeSidecar(k.NativeSidecar)
	}
	if k.Sidecar != nil {
		c.sidecar(k.Sidecar)
	}
	if k.SharedVolume != nil {
		c.sharedVolume(k.SharedVolume)
	}
	if k.JobSpec != nil {
		c.jobSpec(k.JobSpec)
	}
	if k.CronJobSpec != nil {
		c.cronJobSpec(k.CronJobSpec)
	}
	if k.Ephemeral != nil {
		c.ephemeral(k.Ephemeral)
	}
	if k.CEL != "" {
		c.cel(k.CEL)
	}
	if k.Status != nil {
		c.status(k.Status)
	}
	if k.Events != nil {
		c.events(k.Events)
	}
	if k.Env != nil {
		c.env(k.Env)
	}
	if k.Exec != nil {
		c.exec(k.Exec)
	}
	if k.HTTP != nil {
		c.http(k.HTTP)
	}
	if k.Logs != nil {
		c.logs(k.Logs)
	}
	if k.Ambassador != nil {
		c.ambassador(k.Ambassador)
	}
	if k.Adapter != nil {
		c.adapter(k.Adapter)
	}
	if k.Termination != nil {
		c.termination(k.Termination)
	}
	if k.Trial != nil {
		c.trial(k.Trial)
	}
}
