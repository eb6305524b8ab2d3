package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/sqlite/queries"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// Records implements study.Store.
func (s *Store) Records(ctx context.Context, learner study.Learner) (map[labs.Ref]study.Record, error) {
	return s.records(ctx, s.read, queries.RecordsParams{Learner: string(learner)})
}

func (s *Store) records(ctx context.Context, q *queries.Queries, p queries.RecordsParams) (map[labs.Ref]study.Record, error) {
	rows, err := q.Records(ctx, p)
	if err != nil {
		return nil, explain(s.path, err)
	}
	all := make(map[labs.Ref]study.Record, len(rows))
	for _, r := range rows {
		all[labs.Ref{Lab: r.Lab, Task: r.Task}] = study.Record{
			Seed: uint64(r.Seed),
			Progress: study.Progress{
				Started:      fromMillis(r.StartedAt),
				Solved:       fromMillis(r.SolvedAt),
				Attempts:     int(r.Attempts),
				Best:         int(r.Best),
				Last:         int(value(r.LastEarned)),
				Total:        int(value(r.LastTotal)),
				LastVerdict:  grader.Verdict(value(r.LastVerdict)),
				Hints:        int(r.Hints),
				SolutionSeen: fromMillis(r.SolutionAt),
			},
		}
	}
	return all, nil
}

// Ensure implements study.Store. It writes only where there is no record yet.
func (s *Store) Ensure(ctx context.Context, learner study.Learner, ref labs.Ref, seed uint64) (study.Record, error) {
	one := queries.RecordsParams{Learner: string(learner), Lab: ref.Lab, Task: ref.Task}
	all, err := s.records(ctx, s.read, one)
	if err != nil {
		return study.Record{}, err
	}
	if r, ok := all[ref]; ok {
		return r, nil
	}
	if err := s.write.EnsureRecord(ctx, queries.EnsureRecordParams{
		Learner: string(learner), Lab: ref.Lab, Task: ref.Task, Seed: int64(seed),
	}); err != nil {
		return study.Record{}, explain(s.path, err)
	}
	// Another process may have been first: its seed counts.
	if all, err = s.records(ctx, s.write, one); err != nil {
		return study.Record{}, err
	}
	return all[ref], nil
}

// MarkStarted implements study.Store.
func (s *Store) MarkStarted(ctx context.Context, learner study.Learner, ref labs.Ref, at time.Time) error {
	return explain(s.path, s.write.MarkStarted(ctx, queries.MarkStartedParams{
		At: millis(at), Learner: string(learner), Lab: ref.Lab, Task: ref.Task,
	}))
}

// SetHints implements study.Store.
func (s *Store) SetHints(ctx context.Context, learner study.Learner, ref labs.Ref, hints int) error {
	return explain(s.path, s.write.SetHints(ctx, queries.SetHintsParams{
		Hints: int64(hints), Learner: string(learner), Lab: ref.Lab, Task: ref.Task,
	}))
}

// MarkSolutionSeen implements study.Store.
func (s *Store) MarkSolutionSeen(ctx context.Context, learner study.Learner, ref labs.Ref, at time.Time) error {
	return explain(s.path, s.write.MarkSolutionSeen(ctx, queries.MarkSolutionSeenParams{
		At: millis(at), Learner: string(learner), Lab: ref.Lab, Task: ref.Task,
	}))
}

// SaveAttempt implements study.Store.
func (s *Store) SaveAttempt(ctx context.Context, learner study.Learner, a study.Attempt, evidence []byte) (int64, error) {
	report, err := json.Marshal(a.Report)
	if err != nil {
		return 0, fmt.Errorf("encode the report: %w", err)
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, explain(s.path, err)
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	q := s.write.WithTx(tx)
	id, err := q.InsertAttempt(ctx, queries.InsertAttemptParams{
		Learner: string(learner), Lab: a.Ref.Lab, Task: a.Ref.Task, Seed: int64(a.Seed),
		StartedAt: a.Started.UnixMilli(), FinishedAt: a.Finished.UnixMilli(),
		Verdict: string(a.Verdict), Earned: int64(a.Earned), Total: int64(a.Total),
		Report: string(report),
	})
	if err != nil {
		return 0, explain(s.path, err)
	}
	if len(evidence) > 0 {
		if err := q.InsertEvidence(ctx, queries.InsertEvidenceParams{Attempt: id, Packed: evidence}); err != nil {
			return 0, explain(s.path, err)
		}
	}
	if a.Verdict == grader.Pass {
		if err := q.MarkSolved(ctx, queries.MarkSolvedParams{
			At: millis(a.Finished), Learner: string(learner), Lab: a.Ref.Lab, Task: a.Ref.Task,
		}); err != nil {
			return 0, explain(s.path, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, explain(s.path, err)
	}
	return id, nil
}

// Attempts implements study.Store.
func (s *Store) Attempts(ctx context.Context, learner study.Learner, ref labs.Ref, limit int) ([]study.Attempt, error) {
	rows, err := s.read.Attempts(ctx, queries.AttemptsParams{
		Learner: string(learner), Lab: ref.Lab, Task: ref.Task, Limit: int64(limit),
	})
	if err != nil {
		return nil, explain(s.path, err)
	}
	all := make([]study.Attempt, 0, len(rows))
	for _, r := range rows {
		a := study.Attempt{
			ID: r.ID, Ref: ref, Seed: uint64(r.Seed),
			Started: time.UnixMilli(r.StartedAt).UTC(), Finished: time.UnixMilli(r.FinishedAt).UTC(),
			Verdict: grader.Verdict(r.Verdict), Earned: int(r.Earned), Total: int(r.Total),
			Report: new(grader.Report),
		}
		if err := json.Unmarshal([]byte(r.Report), a.Report); err != nil {
			return nil, fmt.Errorf("decode the report of attempt %d: %w", r.ID, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// Evidence implements study.Store.
func (s *Store) Evidence(ctx context.Context, attempt int64) ([]byte, error) {
	packed, err := s.read.Evidence(ctx, attempt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("evidence of attempt %d: %w", attempt, explain(s.path, err))
	}
	return packed, nil
}

func millis(t time.Time) *int64 {
	ms := t.UnixMilli()
	return &ms
}

func fromMillis(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := time.UnixMilli(*ms).UTC()
	return &t
}

// value is what p points at, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
