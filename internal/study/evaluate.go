package study

import (
	"context"
	"fmt"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// evaluate compiles the instance's checks and runs them all.
func (s *Service) evaluate(ctx context.Context, inst *labs.Instance) (*grader.Report, error) {
	program, err := grader.Compile(inst)
	if err != nil {
		return nil, fmt.Errorf("compile the checks of %s: %w", inst.Task.Ref, err)
	}
	cluster, err := s.workspace.Grader()
	if err != nil {
		return nil, clusterError("reach the cluster", err)
	}
	report := program.Evaluate(ctx, cluster, grader.Options{Mode: grader.Submit})
	// A grading that was called off has decided nothing.
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("grade %s: %w", inst.Task.Ref, err)
	}
	return report, nil
}
