package grader

import (
	"context"
	"errors"
)

// act runs a check's probes and trials aside, from step n on.
func (e *evaluation) act(ctx context.Context, i, n int, s *scene, last finding) {
	if e.mode != Submit {
		f := pending(Msg("probe.onCheck")).ranked(Reported)
		if last.Rank != "" {
			f.Rank = last.Rank
		}
		e.decide(i, f)
		return
	}
	e.states[i].busy = true
	e.busy++
	go func() {
		o := outcome{check: i, step: n}
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
			o = acts(ctx, i, n, s)
		case <-ctx.Done():
			o.err = ctx.Err()
		}
		e.done <- o
	}()
}

func acts(ctx context.Context, i, n int, s *scene) outcome {
	o := outcome{check: i, step: n}
	steps := s.check.steps
	for ; o.step < len(steps); o.step++ {
		st := &steps[o.step]
		if st.rank == Tried {
			o.finding, o.err = s.cluster.trial(ctx, s, st)
		} else {
			o.finding, o.err = st.act(ctx, s)
		}
		if o.finding.Rank == "" {
			o.finding.Rank = st.rank
		}
		if o.err != nil || !o.finding.ok() {
			return o
		}
	}
	o.step--
	return o
}

// take receives what a check's acts came to, and reports whether that decided it.
func (e *evaluation) take(o outcome) bool {
	e.busy--
	e.states[o.check].busy = false
	f := o.finding
	if o.err != nil {
		f = failed(o.err)
		f.Rank = e.program.checks[o.check].steps[o.step].rank
		f.settled = f.Rank == Tried || errors.Is(o.err, ErrNoShell)
	} else if f.Rank == Tried {
		f.settled = true // a trial waits by itself
	}
	e.settle(o.check, o.step, f)
	return e.states[o.check].decided
}

func fault(m Message) finding { return finding{Verdict: Error, Reason: m, Rank: Declared} }

// failed says why the cluster could not be looked at.
func failed(err error) finding {
	switch {
	case errors.Is(err, ErrNoShell):
		return fault(Msg("error.noShell"))
	case errors.Is(err, errNotRecorded):
		return fault(Msg("error.notRecorded"))
	case errors.Is(err, context.DeadlineExceeded):
		return fault(Msg("error.timeout", "error", err.Error()))
	case errors.Is(err, context.Canceled):
		return fault(Msg("error.stopped"))
	default:
		return fault(Msg("error.cluster", "error", err.Error()))
	}
}
