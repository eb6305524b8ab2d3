package study

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// Regraded is a stored attempt and how today's checks judge its evidence.
type Regraded struct {
	Task    labs.Ref `json:"task"`
	Attempt int64    `json:"attempt"`
	// Skipped is why it could not be evaluated again, in English; or "".
	Skipped string          `json:"skipped,omitempty"`
	Changed []VerdictChange `json:"changed"`
}

// VerdictChange is a check whose verdict is another than it was. Was is "" for
// a check that there was not, Is for one that there is no longer.
type VerdictChange struct {
	Check  string         `json:"check"`
	Was    grader.Verdict `json:"was"`
	Is     grader.Verdict `json:"is"`
	Reason grader.Message `json:"reason"`
}

// Regrade evaluates the learner's stored attempts again from their evidence,
// the oldest first, without a cluster. It changes nothing that is stored.
// Tasks for which only is false are left out.
func Regrade(ctx context.Context, catalog *labs.Catalog, store Store, learner Learner, only func(labs.Ref) bool) ([]Regraded, error) {
	records, err := store.Records(ctx, learner)
	if err != nil {
		return nil, storeError("read progress", err)
	}
	all := []Regraded{}
	for ref := range records {
		if !only(ref) {
			continue
		}
		attempts, err := store.Attempts(ctx, learner, ref, math.MaxInt32)
		if err != nil {
			return nil, storeError("read attempts", err)
		}
		for _, a := range attempts {
			packed, err := store.Evidence(ctx, a.ID)
			if err != nil {
				return nil, storeError("read evidence", err)
			}
			r := Regraded{Task: ref, Attempt: a.ID}
			r.Changed, r.Skipped = regrade(ctx, catalog, &a, packed)
			all = append(all, r)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("regrade: %w", err)
	}
	slices.SortFunc(all, func(a, b Regraded) int { return int(a.Attempt - b.Attempt) })
	return all, nil
}

func regrade(ctx context.Context, catalog *labs.Catalog, a *Attempt, packed []byte) (changed []VerdictChange, skipped string) {
	changed = []VerdictChange{}
	task, ok := catalog.Task(a.Ref)
	if !ok {
		return changed, "the task is no longer in the catalogue"
	}
	evidence, err := Unpack(packed)
	if err != nil {
		return changed, err.Error()
	}
	if evidence == nil {
		return changed, "no evidence was stored"
	}
	inst, err := task.Instance(a.Report.Namespace, a.Seed)
	if err != nil {
		return changed, err.Error()
	}
	program, err := grader.Compile(inst)
	if err != nil {
		return changed, err.Error()
	}
	report := program.Evaluate(ctx, grader.Replay(evidence), grader.Options{Mode: grader.Submit})
	was := map[string]grader.Verdict{}
	for _, r := range a.Report.Results {
		was[r.Check] = r.Verdict
	}
	for _, r := range report.Results {
		if was[r.Check] != r.Verdict {
			changed = append(changed, VerdictChange{Check: r.Check, Was: was[r.Check], Is: r.Verdict, Reason: r.Reason})
		}
		delete(was, r.Check)
	}
	for _, r := range a.Report.Results {
		if _, left := was[r.Check]; left {
			changed = append(changed, VerdictChange{Check: r.Check, Was: r.Verdict, Reason: r.Reason})
		}
	}
	return changed, ""
}
