package study_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
)

const ada = study.Learner("ada")

// away is a Workspace whose cluster is not to be had; it counts what it was
// asked for. Applying blocks while hold is open.
type away struct {
	err  error
	hold chan struct{}

	mu      sync.Mutex
	applied []string
}

func (w *away) State() study.ClusterState { return study.ClusterState{Phase: study.ClusterFailed} }

func (w *away) Namespace(learner study.Learner, lab string) string {
	return fmt.Sprintf("%s-%s", lab, learner)
}

func (w *away) Grader() (grader.Cluster, error) { return nil, w.err }

func (w *away) Watched() (grader.Cluster, error) { return nil, study.ErrUnavailable }

func (w *away) Apply(_ context.Context, namespace, _ string) error {
	w.mu.Lock()
	w.applied = append(w.applied, namespace)
	w.mu.Unlock()
	if w.hold != nil {
		<-w.hold
	}
	return w.err
}

func (w *away) Reset(context.Context, *labs.Instance) error { return w.err }

func newService(t *testing.T, w *away) *study.Service {
	t.Helper()
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "podproof.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return study.New(catalog, store, w, slog.New(slog.DiscardHandler))
}

// withSetup is a task that begins with objects.
func withSetup(t *testing.T) labs.Ref {
	t.Helper()
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	for _, lab := range catalog.Labs {
		for _, task := range lab.Tasks {
			if task.Setup != "" {
				return task.Ref
			}
		}
	}
	t.Fatal("no task of the catalogue has a setup")
	return labs.Ref{}
}

func TestFailuresExplainThemselves(t *testing.T) {
	ref := withSetup(t)
	down := fmt.Errorf("dial: %w", study.ErrUnavailable)
	tests := []struct {
		name string
		do   func(context.Context, *study.Service) error
		code study.Code
		http int
	}{
		{"a task that does not exist", func(ctx context.Context, s *study.Service) error {
			_, err := s.Open(ctx, ada, labs.Ref{Lab: "no", Task: "such"})
			return err
		}, study.CodeNotFound, 404},
		{"grading before the start", func(ctx context.Context, s *study.Service) error {
			_, err := s.Grade(ctx, ada, ref)
			return err
		}, study.CodeNotStarted, 409},
		{"starting without a cluster", func(ctx context.Context, s *study.Service) error {
			return s.Start(ctx, ada, ref)
		}, study.CodeClusterUnavailable, 503},
		{"resetting without a cluster", func(ctx context.Context, s *study.Service) error {
			return s.Reset(ctx, ada, ref)
		}, study.CodeClusterUnavailable, 503},
		{"a request that was called off", func(ctx context.Context, s *study.Service) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := s.Open(ctx, ada, ref)
			return err
		}, study.CodeCanceled, 503},
		{"something nobody foresaw", func(context.Context, *study.Service) error {
			return errors.New("surprise")
		}, study.CodeInternal, 500},
	}
	texts, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.do(t.Context(), newService(t, &away{err: down}))
			if err == nil {
				t.Fatal("no error")
			}
			p := study.Explain(err)
			if p.Code != tt.code || p.HTTP != tt.http || p.Exit < 2 {
				t.Errorf("%v is explained as %+v", err, p)
			}
			if !texts.Has(p.Message.ID) {
				t.Errorf("no catalogue has %q", p.Message.ID)
			}
		})
	}
}

func TestAFailedStartIsNotRemembered(t *testing.T) {
	w := &away{err: errors.New("no route")}
	s, ref := newService(t, w), withSetup(t)
	if err := s.Start(t.Context(), ada, ref); err == nil {
		t.Fatal("no error")
	}
	v := open(t, s, ada, ref)
	if v.Progress.Started != nil || v.Activity != "" {
		t.Errorf("started %v, activity %q", v.Progress.Started, v.Activity)
	}
	w.err = nil
	for range 2 {
		if err := s.Start(t.Context(), ada, ref); err != nil {
			t.Fatal(err)
		}
	}
	if open(t, s, ada, ref).Progress.Started == nil {
		t.Error("not started")
	}
	// The failed time and the first good one; a started task is left alone.
	if diff := cmp.Diff([]string{ref.Lab + "-ada", ref.Lab + "-ada"}, w.applied); diff != "" {
		t.Errorf("setups, -want +got:\n%s", diff)
	}
}

func TestOneActivityAtATimePerLearnerAndTask(t *testing.T) {
	w := &away{hold: make(chan struct{})}
	s, ref := newService(t, w), withSetup(t)
	open(t, s, ada, ref)
	first := make(chan error, 1)
	go func() { first <- s.Start(context.Background(), ada, ref) }()
	for open(t, s, ada, ref).Activity != study.ActivityStart {
		if len(first) > 0 {
			t.Fatal("the start ended early")
		}
	}
	if p := study.Explain(s.Reset(t.Context(), ada, ref)); p.Code != study.CodeBusy || p.Message.ID != "study.busy.start" {
		t.Errorf("a second activity is answered by %+v", p)
	}
	if err := s.Reset(t.Context(), "grace", ref); err != nil {
		t.Errorf("another learner had to wait: %v", err)
	}
	close(w.hold)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(t.Context(), ada, ref); err != nil {
		t.Errorf("still busy afterwards: %v", err)
	}
}

func TestValuesStayTheSameForALearner(t *testing.T) {
	s, ref := newService(t, &away{}), withSetup(t)
	a, b := open(t, s, ada, ref), open(t, s, ada, ref)
	if diff := cmp.Diff(a.Params, b.Params); diff != "" {
		t.Errorf("values changed:\n%s", diff)
	}
	if diff := cmp.Diff(a.Prompt, b.Prompt); diff != "" {
		t.Errorf("prompt changed:\n%s", diff)
	}
}

func TestHintsAndSolutionAppearOnlyWhenAskedFor(t *testing.T) {
	s, ref := newService(t, &away{}), withSetup(t)
	v := open(t, s, ada, ref)
	if len(v.Hints) != 0 || v.Solution != nil {
		t.Fatalf("shown unasked: %v, %v", v.Hints, v.Solution)
	}
	for want := 1; want <= v.HintCount+1; want++ {
		if err := s.RevealHint(t.Context(), ada, ref); err != nil {
			t.Fatal(err)
		}
		if got := len(open(t, s, ada, ref).Hints); got != min(want, v.HintCount) {
			t.Errorf("after %d requests %d hints are shown", want, got)
		}
	}
	if err := s.RevealSolution(t.Context(), ada, ref); err != nil {
		t.Fatal(err)
	}
	if open(t, s, ada, ref).Solution == nil {
		t.Error("the solution is not shown")
	}
}

func TestEvidenceComesBackAsItWas(t *testing.T) {
	want := &grader.Evidence{Nonce: "0123abcd", Probes: map[string]string{"a": "b"}}
	packed, err := study.Pack(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := study.Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := study.Unpack([]byte("damaged")); err == nil {
		t.Error("damaged evidence was taken")
	}
}

func open(t *testing.T, s *study.Service, l study.Learner, ref labs.Ref) *study.TaskView {
	t.Helper()
	v, err := s.Open(t.Context(), l, ref)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAResetSaysWhatItRemoves(t *testing.T) {
	s, ref := newService(t, &away{}), withSetup(t)
	if v := open(t, s, ada, ref); len(v.Removes) == 0 || v.Removes[0].Kind == "" || v.Removes[0].Name == "" {
		t.Errorf("removed are %+v", v.Removes)
	}
}
