package study_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// shown is a Workspace whose cluster holds what the test puts there; it counts
// how often it is looked at.
type shown struct {
	away
	pods  []corev1.Pod
	lost  bool
	looks int
}

func (w *shown) State() study.ClusterState { return study.ClusterState{Phase: study.ClusterReady} }

func (w *shown) Watched() (grader.Cluster, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if w.lost {
		return nil, study.ErrUnavailable
	}
	return grader.Replay(&grader.Evidence{Nonce: "0", Snapshot: &grader.Snapshot{Pods: w.pods}}), nil
}

func (w *shown) set(lost bool, pods ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost, w.pods = lost, nil
	for _, name := range pods {
		w.pods = append(w.pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1"}})
	}
}

func (w *shown) lookedAt() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

// TestOnlyOpenTasksAreLookedAtAndOnlyNewsIsTold uses a clock of its own.
func TestOnlyOpenTasksAreLookedAtAndOnlyNewsIsTold(t *testing.T) {
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	ref := labs.Ref{Lab: "ckad-multi", Task: "native-sidecar"}
	synctest.Test(t, func(t *testing.T) {
		w := &shown{}
		s := study.New(catalog, still{}, w, slog.New(slog.DiscardHandler))
		ctx, end := context.WithCancel(t.Context())
		go s.RunLive(ctx)
		rest := func() {
			time.Sleep(30 * time.Millisecond)
			synctest.Wait()
		}
		marked := func(marks <-chan struct{}) bool {
			select {
			case _, ok := <-marks:
				return ok
			default:
				return false
			}
		}
		namespace := "ckad-multi-ada"

		s.Changed("", "")
		rest()
		if n := w.lookedAt(); n != 0 {
			t.Errorf("%d looks though no page is open", n)
		}
		marks, stop, err := s.Follow(ctx, ada, ref)
		if err != nil {
			t.Fatal(err)
		}
		rest()
		if !marked(marks) {
			t.Error("the first look is not told of")
		}
		for _, c := range []struct {
			name      string
			change    func()
			namespace string
			kind      grader.Kind
			looks     int
			told      bool
		}{
			{"another namespace", func() {}, "elsewhere", grader.KindPod, 0, false},
			{"a kind that no check mentions", func() {}, namespace, grader.KindSecret, 0, false},
			{"a change that changes no verdict", func() { w.set(false, "other") }, namespace, grader.KindPod, 1, false},
			{"a Pod that comes", func() { w.set(false, "web-logs") }, namespace, grader.KindPod, 1, true},
			{"the cluster goes out of sight", func() { w.set(true) }, "", grader.KindSecret, 0, false},
			{"the cluster is out of sight", func() {}, "", grader.KindPod, 1, true},
			{"it comes back", func() { w.set(false) }, "", "", 1, true},
		} {
			before := w.lookedAt()
			c.change()
			for range 50 { // gathered into one look
				s.Changed(c.namespace, c.kind)
			}
			rest()
			if got := w.lookedAt() - before; got != c.looks {
				t.Errorf("%s: %d looks, want %d", c.name, got, c.looks)
			}
			if got := marked(marks); got != c.told {
				t.Errorf("%s: told: %v", c.name, got)
			}
		}

		stop()
		stop()
		before := w.lookedAt()
		s.Changed("", "")
		rest()
		if n := w.lookedAt() - before; n != 0 {
			t.Errorf("%d looks after the last page was closed", n)
		}
		marks, stop, err = s.Follow(ctx, ada, ref)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		end()
		synctest.Wait()
		for open := true; open; {
			_, open = <-marks
		}
	})
}

// still is a store that knows every task already and is asked nothing else.
type still struct{ study.Store }

func (still) Ensure(context.Context, study.Learner, labs.Ref, uint64) (study.Record, error) {
	return study.Record{Seed: 1}, nil
}
