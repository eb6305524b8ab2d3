package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/migrations"
)

const ada = study.Learner("ada")

func task() labs.Ref { return labs.Ref{Lab: "ckad-multi", Task: "adapter"} }

func openStore(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func attempt(v grader.Verdict, earned int, at time.Time) study.Attempt {
	return study.Attempt{
		Ref: task(), Seed: 7, Started: at, Finished: at.Add(time.Second),
		Verdict: v, Earned: earned, Total: 3,
		Report: &grader.Report{Task: task().String(), Namespace: "ckad-multi", Results: []grader.Result{
			{Check: "a", Verdict: v, Points: 3, Earned: earned, Reason: grader.Msg("x", "k", "v")},
		}},
	}
}

func save(t *testing.T, s *Store, a study.Attempt, evidence []byte) int64 {
	t.Helper()
	id, err := s.SaveAttempt(t.Context(), ada, a, evidence)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func ensure(t *testing.T, s *Store, seed uint64) study.Record {
	t.Helper()
	r, err := s.Ensure(t.Context(), ada, task(), seed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatALearnerDidSurvivesAReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder with ? and %", "podproof.db")
	t0 := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	first := openStore(t, path)
	ensure(t, first, 7)
	steps := []error{
		first.MarkStarted(t.Context(), ada, task(), t0),
		first.MarkStarted(t.Context(), ada, task(), t0.Add(time.Hour)),
		first.SetHints(t.Context(), ada, task(), 2),
		first.SetHints(t.Context(), ada, task(), 1),
		first.MarkSolutionSeen(t.Context(), ada, task(), t0.Add(time.Minute)),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	want := []study.Attempt{
		attempt(grader.Fail, 1, t0.Add(3*time.Minute)),
		attempt(grader.Pass, 3, t0.Add(2*time.Minute)),
		attempt(grader.Error, 0, t0.Add(time.Minute)),
	}
	evidence := []byte{0, 1, 2, 255}
	for i := len(want) - 1; i >= 0; i-- {
		want[i].ID = save(t, first, want[i], evidence)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	s := openStore(t, path)
	got, err := s.Attempts(t.Context(), ada, task(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts, -want +got:\n%s", diff)
	}
	solved, seen := t0.Add(2*time.Minute+time.Second), t0.Add(time.Minute)
	wantRecord := study.Record{Seed: 7, Progress: study.Progress{
		Started: &t0, Solved: &solved, Attempts: 3, Best: 3, Last: 1, Total: 3,
		LastVerdict: grader.Fail, Hints: 2, SolutionSeen: &seen,
	}}
	records, err := s.Records(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[labs.Ref]study.Record{task(): wantRecord}, records); diff != "" {
		t.Errorf("records, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(wantRecord, ensure(t, s, 99)); diff != "" {
		t.Errorf("the record changed when it was asked for again:\n%s", diff)
	}
	packed, err := s.Evidence(t.Context(), want[1].ID)
	if err != nil || !bytes.Equal(packed, evidence) {
		t.Errorf("evidence is %v, %v", packed, err)
	}
}

func TestTheFirstFullPassStaysSolved(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "podproof.db"))
	ensure(t, s, 1)
	t0 := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for i, v := range []grader.Verdict{grader.Fail, grader.Pass, grader.Pass, grader.Fail} {
		save(t, s, attempt(v, 1, t0.Add(time.Duration(i)*time.Minute)), nil)
	}
	want := t0.Add(time.Minute + time.Second)
	if got := ensure(t, s, 1).Solved; got == nil || !got.Equal(want) {
		t.Errorf("solved at %v, want %v", got, want)
	}
}

func TestAnAttemptIsStoredWholeOrNotAtAll(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "podproof.db"))
	ensure(t, s, 1)
	if _, err := s.writer.ExecContext(t.Context(),
		"CREATE TRIGGER fault BEFORE UPDATE OF solved_at ON task_records BEGIN SELECT RAISE(ABORT, 'fault'); END"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveAttempt(t.Context(), ada, attempt(grader.Pass, 3, time.Now()), []byte("x")); err == nil {
		t.Fatal("no error")
	}
	for _, table := range []string{"attempts", "evidence"} {
		var n int
		if err := s.readers.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s holds %d rows, %v", table, n, err)
		}
	}
}

func TestTwoProcessesMayWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	stores := []*Store{openStore(t, path), openStore(t, path)}
	ensure(t, stores[0], 1)
	const each = 20
	var wg sync.WaitGroup
	for _, s := range stores {
		for range 4 {
			wg.Go(func() {
				for range each {
					if _, err := s.SaveAttempt(context.Background(), ada, attempt(grader.Fail, 0, time.Now()), []byte("e")); err != nil {
						t.Error(err)
					}
					if _, err := s.Records(context.Background(), ada); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if got, want := ensure(t, stores[1], 1).Attempts, 8*each; got != want {
		t.Errorf("%d attempts are stored, want %d", got, want)
	}
}

func TestAFileThatCannotBeTrustedIsRefusedAndLeftAsItIs(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want error
		says string
	}{
		{
			name: "no database",
			make: func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("not a database "), 500)) },
			want: ErrDamaged, says: "move it away",
		},
		{
			name: "cut in half",
			make: func(t *testing.T, path string) {
				raw := filled(t, path)
				write(t, path, raw[:len(raw)/2])
			},
			want: ErrDamaged, says: "move it away",
		},
		{
			name: "a page overwritten",
			make: func(t *testing.T, path string) {
				raw := filled(t, path)
				copy(raw[len(raw)/2:], bytes.Repeat([]byte{0xa5}, 8192))
				write(t, path, raw)
			},
			want: ErrDamaged, says: ".recover",
		},
		{
			name: "the first page overwritten",
			make: func(t *testing.T, path string) {
				raw := filled(t, path)
				copy(raw[100:], bytes.Repeat([]byte{0xff}, 900))
				write(t, path, raw)
			},
			want: ErrDamaged, says: "move it away",
		},
		{
			name: "written by a later version",
			make: func(t *testing.T, path string) {
				s, err := open(t.Context(), path, later(t))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			},
			want: ErrNewer, says: "later podproof",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "podproof.db")
			tt.make(t, path)
			before := read(t, path)
			s, err := Open(t.Context(), path)
			if err == nil {
				t.Fatal(errors.Join(errors.New("it was opened"), s.Close()))
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			for _, part := range []string{path, tt.says} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no word of %q in: %v", part, err)
				}
			}
			if !bytes.Equal(before, read(t, path)) {
				t.Error("the file has changed")
			}
		})
	}
}

func TestAnOlderSchemaIsCopiedBeforeItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podproof.db")
	filled(t, path)
	s, err := open(t.Context(), path, later(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	copies, err := filepath.Glob(path + ".v*")
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies are %v, %v", copies, err)
	}
	old := openStore(t, copies[0])
	if got := ensure(t, old, 0); got.Seed != 1 || got.Attempts != filledAttempts {
		t.Errorf("the copy holds %+v", got)
	}
}

func TestAFullDiskLosesNothingStored(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "podproof.db"))
	ensure(t, s, 1)
	save(t, s, attempt(grader.Fail, 1, time.Now()), nil)
	var pages int
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	// SQLite answers with the code for a full disk beyond this limit.
	if _, err := s.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	_, err := s.SaveAttempt(t.Context(), ada, attempt(grader.Pass, 3, time.Now()), make([]byte, 1<<20))
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), s.path) {
		t.Errorf("got %v, want ErrFull with the path", err)
	}
	if r := ensure(t, s, 1); r.Attempts != 1 || r.Solved != nil {
		t.Errorf("stored is %+v", r)
	}
	if _, err := s.writer.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	save(t, s, attempt(grader.Pass, 3, time.Now()), make([]byte, 1<<20))
}

const filledAttempts = 100

// filled makes a database with rows and returns the file's content.
func filled(t *testing.T, path string) []byte {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ensure(t, s, 1)
	for range filledAttempts {
		save(t, s, attempt(grader.Fail, 0, time.Now()), bytes.Repeat([]byte("evidence"), 100))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

// later is the schema of a podproof to come.
func later(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{"90000_later.sql": {Data: []byte("-- +goose Up\nCREATE TABLE later (x INTEGER);\n")}}
	entries, err := migrations.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := migrations.FS.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		m[e.Name()] = &fstest.MapFile{Data: raw}
	}
	return m
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func write(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

var _ study.Store = (*Store)(nil)
