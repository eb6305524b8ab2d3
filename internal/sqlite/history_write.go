package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/sqlite/queries"
)

// catchUp reads what another process has written since. The writer knows
// everything already.
func (h *History) catchUp(ctx context.Context) error {
	h.reading.Lock()
	defer h.reading.Unlock()
	h.mu.Lock()
	writer, lastChange, lastBlind := h.writer, h.lastChange, h.lastBlind
	h.mu.Unlock()
	if writer {
		return nil
	}
	changes, err := h.store.read.ChangesAfter(ctx, queries.ChangesAfterParams{Cluster: h.cluster, ID: lastChange})
	if err != nil {
		return explain(h.store.path, err)
	}
	blind, err := h.store.read.BlindAfter(ctx, queries.BlindAfterParams{Cluster: h.cluster, ID: lastBlind})
	if err != nil {
		return explain(h.store.path, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writer {
		return nil
	}
	h.take(changes, blind)
	return nil
}

// take adds rows to what is known.
func (h *History) take(changes []queries.Change, blind []queries.BlindSpan) {
	for i := range changes {
		h.past(changes[i].Namespace).add(fromRow(&changes[i]), h.max)
		h.lastChange = changes[i].ID
	}
	for _, b := range blind {
		h.blind = newest(append(h.blind, grader.Span{From: time.UnixMilli(b.Since).UTC(), Until: time.UnixMilli(b.Until).UTC()}), h.max)
		h.lastBlind = b.ID
	}
}

// write writes what waits and says that this process still watches, where
// there is reason to; a process that may not write looks whether it may now.
// The last time it lets go.
func (h *History) write(ctx context.Context, now, sight time.Time, last bool) error {
	h.mu.Lock()
	writer := h.writer
	due := last || len(h.waiting)+len(h.unseen) > 0 || now.Sub(h.renewed) >= renewEvery
	h.mu.Unlock()
	if !writer {
		if got, err := h.takeOver(ctx, now); err != nil || !got {
			return explain(h.store.path, err)
		}
	} else if !due {
		return nil
	}
	return explain(h.store.path, h.flush(ctx, now, sight, last))
}

// takeOver makes this process the writer where there is none, and adds what it
// has seen since the one before ended.
func (h *History) takeOver(ctx context.Context, now time.Time) (bool, error) {
	// A look costs no write lock.
	if w, err := h.store.read.Watch(ctx, h.cluster); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	} else if err == nil && !h.free(w, now) {
		return false, nil
	}
	until, got, err := h.claim(ctx, now)
	if err != nil || !got {
		return false, err
	}
	if err := h.catchUp(ctx); err != nil {
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	waiting, unseen := h.waiting, h.unseen
	h.writer, h.waiting, h.unseen, h.renewed = true, nil, nil, now
	if h.began.After(until) {
		h.addBlind(grader.Span{From: until, Until: h.began})
	}
	for _, span := range unseen {
		if span.Until.After(until) {
			h.addBlind(span)
		}
	}
	for _, e := range waiting {
		// What came before has been written by the process that saw it; in the
		// millisecond itself it may have seen one part only.
		if !e.Seen.Before(until) && h.past(e.namespace).add(e.Change, h.max) {
			h.waiting = append(h.waiting, e)
		}
	}
	return true, nil
}

// claim names this process as the writer and returns until when the one
// before has seen everything.
func (h *History) claim(ctx context.Context, now time.Time) (until time.Time, got bool, err error) {
	err = h.store.inTx(ctx, func(q *queries.Queries) error {
		w, err := q.Watch(ctx, h.cluster)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && !h.free(w, now) {
			return nil // another process was faster
		}
		until, got = time.UnixMilli(w.SeenUntil).UTC(), true
		if err := q.DropOldWatches(ctx, now.Add(-forgetAfter).UnixMilli()); err != nil {
			return err
		}
		return q.SetWatch(ctx, queries.SetWatchParams{
			Cluster: h.cluster, Owner: h.owner, RenewedAt: now.UnixMilli(), SeenUntil: w.SeenUntil,
		})
	})
	return until, got && err == nil, err
}

// free tells whether nobody writes; this process may have claimed it already.
func (h *History) free(w queries.WatchRow, now time.Time) bool {
	return w.Owner == "" || w.Owner == h.owner || now.Sub(time.UnixMilli(w.RenewedAt)) > h.stale
}

// errNotWriter: another process took over, as when this one was suspended.
var errNotWriter = errors.New("another process writes the history")

// flush writes all that waits at once, or nothing.
func (h *History) flush(ctx context.Context, now, sight time.Time, last bool) error {
	h.mu.Lock()
	waiting, unseen := h.waiting, h.unseen
	h.waiting, h.unseen = nil, nil
	h.mu.Unlock()
	owner := h.owner
	if last {
		owner = ""
	}
	err := h.store.inTx(ctx, func(q *queries.Queries) error {
		w, err := q.Watch(ctx, h.cluster)
		if err != nil {
			return err
		}
		if w.Owner != h.owner {
			return errNotWriter
		}
		if err := q.SetWatch(ctx, queries.SetWatchParams{
			Cluster: h.cluster, Owner: owner, RenewedAt: now.UnixMilli(), SeenUntil: max(sight.UnixMilli(), w.SeenUntil),
		}); err != nil {
			return err
		}
		return h.insert(ctx, q, waiting, unseen)
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case errors.Is(err, errNotWriter):
		h.forget()
		h.waiting, h.unseen = append(waiting, h.waiting...), append(unseen, h.unseen...)
		return nil
	case err != nil:
		h.waiting, h.unseen = append(waiting, h.waiting...), append(unseen, h.unseen...)
		return err
	}
	h.renewed = now
	if last {
		h.forget()
	}
	return nil
}

func (h *History) insert(ctx context.Context, q *queries.Queries, changes []entry, blind []grader.Span) error {
	touched := map[string]bool{}
	for i := range changes {
		e := &changes[i]
		touched[e.namespace] = true
		if err := q.InsertChange(ctx, toRow(h.cluster, e)); err != nil {
			return err
		}
	}
	for namespace := range touched {
		if err := q.TrimChanges(ctx, queries.TrimChangesParams{Cluster: h.cluster, Namespace: namespace, Keep: int64(h.max)}); err != nil {
			return err
		}
	}
	for _, s := range blind {
		if err := q.InsertBlind(ctx, queries.InsertBlindParams{
			Cluster: h.cluster, Since: s.From.UnixMilli(), Until: max(s.From.UnixMilli(), s.Until.UnixMilli()),
		}); err != nil {
			return err
		}
	}
	if len(blind) == 0 {
		return nil
	}
	return q.TrimBlind(ctx, queries.TrimBlindParams{Cluster: h.cluster, Keep: int64(h.max)})
}

// inTx runs f in one transaction that may write.
func (s *Store) inTx(ctx context.Context, f func(*queries.Queries) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	if err := f(s.write.WithTx(tx)); err != nil {
		return err
	}
	return tx.Commit()
}

func toRow(cluster string, e *entry) queries.InsertChangeParams {
	row := queries.InsertChangeParams{
		Cluster: cluster, Namespace: e.namespace, SeenAt: e.Seen.UnixMilli(),
		Object: e.Object, Uid: e.UID, Owner: e.Owner, Container: e.Container,
		State: e.State, Reason: e.Reason, Restarts: int64(e.Restarts),
	}
	if e.ExitCode != nil {
		code := int64(*e.ExitCode)
		row.ExitCode = &code
	}
	if e.At != nil {
		row.ToldAt = millis(*e.At)
	}
	return row
}

func fromRow(r *queries.Change) grader.Change {
	c := grader.Change{
		Seen: time.UnixMilli(r.SeenAt).UTC(), Object: r.Object, UID: r.Uid, Owner: r.Owner, Container: r.Container,
		State: r.State, Reason: r.Reason, Restarts: int32(r.Restarts), At: fromMillis(r.ToldAt),
	}
	if r.ExitCode != nil {
		code := int32(*r.ExitCode)
		c.ExitCode = &code
	}
	return c
}
