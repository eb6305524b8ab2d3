package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
)

const space = "ckad-multi"

// change is one of Pod p's container c, seen now; at is the API's time, 0 for none.
func change(state string, at int64) grader.Change {
	c := grader.Change{Seen: time.Now().UTC().Truncate(time.Millisecond), Object: "Pod/p", UID: "1", Owner: "Job/j", Container: "c", State: state}
	if state == "terminated" {
		c.ExitCode = new(int32)
	}
	if at != 0 {
		t := time.UnixMilli(at * 1000).UTC()
		c.At = &t
	}
	return c
}

// watcher is a process that records.
type watcher struct {
	*History
	store *Store
	end   func()
}

func watch(t *testing.T, path string) *watcher {
	t.Helper()
	s := openStore(t, path)
	w := &watcher{History: s.History("cluster", 100), store: s}
	w.stale = time.Hour // nothing is taken over just because a test is slow
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx, time.Now, slog.New(slog.DiscardHandler))
	}()
	w.end = func() { cancel(); <-done }
	t.Cleanup(w.end)
	return w
}

func (w *watcher) record(t *testing.T, changes ...grader.Change) {
	t.Helper()
	if err := w.Record(t.Context(), space, changes); err != nil {
		t.Fatal(err)
	}
}

func (w *watcher) states(t *testing.T) []string {
	t.Helper()
	changes, _, err := w.History.History(t.Context(), space)
	if err != nil {
		t.Fatal(err)
	}
	states := []string{}
	for _, c := range changes {
		states = append(states, c.State)
	}
	return states
}

func (w *watcher) isWriter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writer
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never %s", what)
		}
	}
}

func TestARestartKeepsTheHistoryAndSaysWhereItWasBlind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	first := watch(t, path)
	want := []grader.Change{change("waiting", 0), change("running", 10), change("ready", 0), change("unready", 0), change("ready", 0), change("terminated", 12)}
	first.record(t, want...)
	first.end()
	ended := time.Now()
	time.Sleep(20 * time.Millisecond)

	second := watch(t, path)
	began := time.Now()
	// A recorder that starts anew tells the present once more.
	second.record(t, change("running", 10), change("terminated", 12), change("ready", 0))
	eventually(t, "the writer", second.isWriter)
	got, blind, err := second.History.History(t.Context(), space)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// All time before the first, and the time between both.
	if len(blind) != 2 || !blind[0].From.Equal(time.UnixMilli(0)) {
		t.Fatalf("blind at %v", blind)
	}
	if span := blind[1]; span.From.After(ended) || span.Until.Before(began.Add(-time.Second)) || !span.Until.After(span.From) {
		t.Errorf("blind at %v, ended at %v, began at %v", span, ended, began)
	}
	alive, err := second.Alive(t.Context(), "Pod")
	if err != nil || len(alive[space]) != 1 || alive[space][0].Owner != "Job/j" {
		t.Errorf("alive are %+v, %v", alive, err)
	}
	second.record(t, change("deleted", 0))
	if alive, err := second.Alive(t.Context(), "Pod"); err != nil || len(alive) != 0 {
		t.Errorf("alive after the end are %+v, %v", alive, err)
	}
}

func TestTwoProcessesKeepOneHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	first := watch(t, path)
	eventually(t, "the writer", first.isWriter)
	second := watch(t, path)
	for i, state := range []string{"running", "ready", "unready", "ready"} {
		at := int64(0)
		if i == 0 {
			at = 10
		}
		first.record(t, change(state, at))
		second.record(t, change(state, at))
	}
	want := []string{"running", "ready", "unready", "ready"}
	eventually(t, "read by the second", func() bool { return cmp.Equal(want, second.states(t)) })
	if second.isWriter() {
		t.Error("both write")
	}

	first.end()
	second.record(t, change("unready", 0))
	eventually(t, "taken over", second.isWriter)
	want = append(want, "unready")
	eventually(t, "what it held back, written", func() bool { return cmp.Equal(want, second.states(t)) })
	// The second watched already when the first ended.
	if _, blind, err := second.History.History(t.Context(), space); err != nil || len(blind) != 1 {
		t.Errorf("blind at %v, %v", blind, err)
	}
}

func TestAWriterThatWasKilledIsReplacedAndStepsBackWhenItWakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	s := openStore(t, path)
	killed, next := s.History("cluster", 100), s.History("cluster", 100)
	t0 := time.Now()
	write := func(h *History, at time.Duration) {
		t.Helper()
		if err := h.write(t.Context(), t0.Add(at), t0.Add(at), false); err != nil {
			t.Fatal(err)
		}
	}
	write(killed, 0)
	write(next, staleAfter/2)
	if !killed.writer || next.writer {
		t.Fatalf("writers are %t, %t", killed.writer, next.writer)
	}
	write(next, 2*staleAfter)
	write(killed, 3*staleAfter)
	if killed.writer || !next.writer {
		t.Errorf("later, writers are %t, %t", killed.writer, next.writer)
	}
}

func TestAHistoryIsBoundedPerNamespace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	w := watch(t, path)
	eventually(t, "the writer", w.isWriter)
	if err := w.Record(t.Context(), "other", []grader.Change{change("running", 1)}); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		w.record(t, change("running", int64(i+1)))
	}
	w.end()
	again := watch(t, path)
	got, _, err := again.History.History(t.Context(), space)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 100 || got[99].At.Unix() != 1000 {
		t.Errorf("%d changes are kept, the last of %v", len(got), got[len(got)-1].At)
	}
	if got, _, err := again.History.History(t.Context(), "other"); err != nil || len(got) != 1 {
		t.Errorf("of the other namespace: %v, %v", got, err)
	}
}

func TestRecordingDoesNotWaitForTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	w := watch(t, path)
	eventually(t, "the writer", w.isWriter)
	tx, err := openStore(t, path).writer.BeginTx(t.Context(), nil) // holds the write lock
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for i := range 1000 {
		w.record(t, change("running", int64(i+1)))
		if i%100 == 0 {
			w.states(t)
		}
	}
	if took := time.Since(begun); took > busyTimeout/2 {
		t.Errorf("recording took %s while another process wrote", took)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.end()
	if got := watch(t, path).states(t); len(got) != 100 {
		t.Errorf("%d changes were written", len(got))
	}
}

func TestAClusterMadeAnewHasNoPast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	w := watch(t, path)
	w.record(t, change("running", 1))
	w.end()
	got, blind, err := openStore(t, path).History("another", 100).History(t.Context(), space)
	if err != nil || len(got)+len(blind) != 0 {
		t.Errorf("%v, %v, %v", got, blind, err)
	}
}

func BenchmarkReadingAFullHistory(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "podproof.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }() // the folder goes with it
	h := s.History("cluster", 5000)
	if err := h.write(b.Context(), time.Now(), time.Now(), false); err != nil {
		b.Fatal(err)
	}
	for i := range 5000 {
		c := change("running", int64(i+1))
		c.UID = fmt.Sprint(i)
		if err := h.Record(b.Context(), space, []grader.Change{c}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := h.History(b.Context(), space); err != nil {
			b.Fatal(err)
		}
	}
}
