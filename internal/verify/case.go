package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/labs"
)

// caseTime bounds one case, from its namespace to its verdict.
const caseTime = 8 * time.Minute

// spec is a case that is still to be run.
type spec struct {
	kind     CaseKind
	file     string
	text     string // replaces the file's text: a mutant's
	mutant   string // its name
	variant  int
	rejected int // place among the task's rejected cases
}

func (s spec) start(t *labs.Task) Case {
	return Case{Task: t.Ref, Kind: s.kind, File: s.file, Mutant: s.mutant, Params: t.Variant(s.variant)}
}

// casesOf lists a task's cases: the start, the solution in each variant up to
// max, and the other answers, among which the variants are spread.
func casesOf(t *labs.Task, max int) []spec {
	specs := []spec{{kind: Setup}}
	variants := min(t.Variants(), max)
	for v := range variants {
		specs = append(specs, spec{kind: Solution, file: t.Answer.File, variant: v * t.Variants() / variants})
	}
	n := 0
	for _, c := range t.Cases.Accepted {
		n++
		specs = append(specs, spec{kind: Accepted, file: c.Path(), variant: n % t.Variants()})
	}
	for i, c := range t.Cases.Rejected {
		n++
		specs = append(specs, spec{kind: Rejected, file: c.Path(), variant: n % t.Variants(), rejected: i})
	}
	return specs
}

// unexercised lists the checks that no rejected case makes fail.
func unexercised(t *labs.Task) []string {
	inst, err := t.InstanceOf("namespace", t.Variant(0))
	if err != nil {
		return nil // its cases will say so
	}
	var ids []string
	for _, check := range inst.Checks {
		if !slices.ContainsFunc(t.Cases.Rejected, func(c labs.RejectedCase) bool { return slices.Contains(c.Fails, check.ID) }) {
			ids = append(ids, check.ID)
		}
	}
	return ids
}

// fault is a case's failing outcome on its way up.
type fault struct {
	outcome Outcome
	problem string
}

func (f *fault) Error() string { return f.problem }

func faultf(o Outcome, format string, args ...any) error {
	return &fault{o, fmt.Sprintf(format, args...)}
}

// runCase runs one case in a namespace of its own.
func (r *runner) runCase(ctx context.Context, namespace string, t *labs.Task, s spec) Case {
	began := time.Now()
	c := s.start(t)
	ctx, cancel := context.WithTimeout(ctx, caseTime)
	defer cancel()
	err := r.try(ctx, namespace, t, s, &c)
	var f *fault
	switch {
	case err == nil:
		c.Outcome = OK
	case errors.As(err, &f):
		c.Outcome, c.Problem = f.outcome, f.problem
	default:
		c.Outcome, c.Problem = Broken, err.Error()
	}
	c.Took = time.Since(began)
	return c
}

func (r *runner) try(ctx context.Context, namespace string, t *labs.Task, s spec, c *Case) error {
	inst, err := t.InstanceOf(namespace, c.Params)
	if err != nil {
		return err
	}
	c.Points = inst.Points()
	program, err := grader.Compile(inst)
	if err != nil {
		return fmt.Errorf("compile the checks: %w", err)
	}
	defer func() {
		// The namespace goes even when the run was called off.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		if err := r.admin.Remove(ctx, namespace); err != nil {
			r.options.Log.Warn("remove a case's namespace", "namespace", namespace, "error", err)
		}
	}()
	if err := r.admin.ProvisionScratch(ctx, namespace); err != nil {
		return err
	}
	if err := r.admin.Apply(ctx, namespace, inst.Setup); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	start, err := r.fingerprint(ctx, namespace)
	if err != nil {
		return err
	}
	if s.kind != Setup {
		script, err := inst.Case(s.file)
		if err != nil {
			return err
		}
		if s.text != "" {
			script.Text = s.text
		}
		applied, err := r.answer(ctx, namespace, script)
		if err != nil {
			return err
		}
		refusal := s.kind == Rejected && inst.Cases.Rejected[s.rejected].Refused
		switch {
		case applied != nil && refusal:
			return nil
		case applied != nil:
			return faultf(Unapplied, "%s could not be applied: %v", s.file, applied)
		case refusal:
			return faultf(Unapplied, "the API server took %s, although the case says that it refuses it", s.file)
		}
	}
	report, err := r.grade(ctx, program, namespace)
	if err != nil {
		return err
	}
	c.Report = report
	c.Earned, _ = report.Points()
	if err := r.judge(inst, s, report); err != nil {
		return err
	}
	if s.kind != Solution {
		return nil
	}
	if err := r.admin.Reset(ctx, namespace, inst.Objects(), inst.Setup); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	again, err := r.fingerprint(ctx, namespace)
	if err != nil {
		return err
	}
	if d := difference(start, again, false); d != "" {
		return faultf(Untidy, "reset does not lead back to the start: %s", d)
	}
	return nil
}

// grade evaluates and holds it to leave the learner's objects alone.
func (r *runner) grade(ctx context.Context, program *grader.Program, namespace string) (*grader.Report, error) {
	before, err := r.fingerprint(ctx, namespace)
	if err != nil {
		return nil, err
	}
	report := program.Evaluate(ctx, r.admin, grader.Options{Mode: grader.Submit})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("grade: %w", err)
	}
	after, err := r.fingerprint(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if d := difference(before, after, true); d != "" {
		return nil, faultf(Untidy, "grading changed the learner's objects: %s", d)
	}
	return report, nil
}

// answer brings an answer into the namespace as a learner would. The first
// result says why the cluster or the script did not take it.
func (r *runner) answer(ctx context.Context, namespace string, script labs.Script) (refused, err error) {
	raw, err := r.admin.LearnerKubeconfig(ctx, []string{namespace}, namespace)
	if err != nil {
		return nil, err
	}
	if script.Shell() {
		return r.runShell(ctx, namespace, raw, script)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("learner's kubeconfig: %w", err)
	}
	learner, err := kube.New(config)
	if err != nil {
		return nil, err
	}
	err = learner.Replace(ctx, namespace, script.Text)
	if errors.Is(err, kube.ErrRefused) || errors.Is(err, kube.ErrForbidden) || errors.Is(err, kube.ErrImmutable) || errors.Is(err, kube.ErrNotFound) {
		return err, nil
	}
	return nil, err
}

// judge holds a report against what the case says.
func (r *runner) judge(inst *labs.Instance, s spec, report *grader.Report) error {
	for _, x := range report.Results {
		if x.Verdict == grader.Error {
			return faultf(Undecided, "check %s could not be decided: %s", x.Check, r.reason(x))
		}
	}
	earned, points := report.Points()
	switch s.kind {
	case Setup:
		if earned > 0 {
			return faultf(WrongAccepted, "the start alone earns %d of %d points: %s", earned, points, r.which(report, true))
		}
	case Solution, Accepted:
		if earned < points {
			return faultf(RightRefused, "it earns %d of %d points: %s", earned, points, r.which(report, false))
		}
	case Mutated:
		if earned == points {
			return faultf(WrongAccepted, "%s: it scores full", s.mutant)
		}
	case Rejected:
		return r.judgeRejected(inst.Cases.Rejected[s.rejected], report)
	}
	return nil
}

func (r *runner) judgeRejected(c labs.RejectedCase, report *grader.Report) error {
	var surplus, missing []string
	said := false
	for _, x := range report.Results {
		named := slices.Contains(c.Fails, x.Check)
		failed := x.Verdict != grader.Pass
		switch {
		case failed && !named:
			surplus = append(surplus, fmt.Sprintf("%s (%s)", x.Check, r.reason(x)))
		case !failed && named:
			missing = append(missing, x.Check)
		}
		said = said || failed && named && strings.Contains(r.reason(x), c.Says)
	}
	earned, points := report.Points()
	switch {
	case earned == points:
		return faultf(WrongAccepted, "it scores full, but should fail %s", strings.Join(c.Fails, ", "))
	case len(missing) > 0 && len(surplus) > 0:
		return faultf(Misjudged, "it should fail %s, but fails %s", strings.Join(missing, ", "), strings.Join(surplus, ", "))
	case len(missing) > 0:
		return faultf(Misjudged, "it should fail %s too", strings.Join(missing, ", "))
	case len(surplus) > 0:
		return faultf(Misjudged, "it fails %s too", strings.Join(surplus, ", "))
	case !said:
		return faultf(Misjudged, "no reason says %q: %s", c.Says, r.which(report, false))
	}
	return nil
}

// reason is all that a learner reads in English of why.
func (r *runner) reason(x grader.Result) string {
	text := r.options.Message(x.Reason)
	if x.Because != nil {
		text += " " + r.options.Message(*x.Because)
	}
	return text
}

// which lists the checks that passed, or those that did not and why.
func (r *runner) which(report *grader.Report, passed bool) string {
	var parts []string
	for _, x := range report.Results {
		if (x.Verdict == grader.Pass) == passed {
			part := fmt.Sprintf("%s: %s", x.Check, r.reason(x))
			if x.Verdict == grader.Pending {
				part += " (pending)"
			}
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}
