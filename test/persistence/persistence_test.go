//go:build cluster

// Package persistence_test follows a learner through restarts of podproof on a
// real cluster, without a browser.
package persistence_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/config"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

func TestASolvedTaskStaysSolvedThroughARestart(t *testing.T) {
	ref := labs.Ref{Lab: "ckad-multi", Task: "native-sidecar"}
	data := t.TempDir()

	first := serve(t, data)
	if err := first.Study.Reset(t.Context(), study.Local, ref); err != nil {
		t.Fatal(err)
	}
	if a := grade(t, first, ref); a.Verdict == grader.Pass || a.Earned != 0 {
		t.Fatalf("doing nothing earns %d points: %s", a.Earned, a.Verdict)
	}
	answer(t, first, ref)
	if a := grade(t, first, ref); a.Verdict != grader.Pass {
		for _, r := range a.Report.Results {
			t.Logf("%s: %s: %s", r.Check, r.Verdict, first.Text.Message(labs.English, r.Reason))
		}
		t.Fatalf("the reference answer is %s", a.Verdict)
	}
	first.stop(t)

	second := serve(t, data)
	v, err := second.Study.Open(t.Context(), study.Local, ref)
	if err != nil {
		t.Fatal(err)
	}
	if v.Progress.Solved == nil || v.Progress.Attempts != 2 || v.Last == nil || v.Last.Verdict != grader.Pass {
		t.Errorf("after the restart: %+v", v.Progress)
	}
	if err := second.Study.Reset(t.Context(), study.Local, ref); err != nil {
		t.Fatal(err)
	}
	if a := grade(t, second, ref); a.Verdict == grader.Pass {
		t.Error("passes after a reset")
	}
	if v, err = second.Study.Open(t.Context(), study.Local, ref); err != nil || v.Progress.Solved == nil {
		t.Errorf("solved did not stay: %+v, %v", v, err)
	}
	second.stop(t)
}

// running is a podproof that serves.
type running struct {
	*app.App
	cancel context.CancelFunc
	ended  chan error
}

func serve(t *testing.T, data string) *running {
	t.Helper()
	kubeconfig := os.Getenv("PODPROOF_TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("PODPROOF_TEST_KUBECONFIG names no cluster; `make test` sets it, and bin/harness COMMAND")
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	bound := config.Bind(flags)
	if err := flags.Parse([]string{
		"--data", data, "--addr", "127.0.0.1:0", "--cluster", "existing", "--kubeconfig", kubeconfig,
	}); err != nil {
		t.Fatal(err)
	}
	c, err := bound.Load(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := app.Listen(t.Context(), c.Addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{App: a, cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- a.Serve(ctx, l) }()
	r.pageAnswers(t, l.Addr())
	for deadline := time.Now().Add(time.Minute); !a.Study.Cluster().Ready(); {
		if s := a.Study.Cluster(); s.Problem != "" || time.Now().After(deadline) {
			t.Fatalf("the cluster is not ready: %+v", s)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return r
}

// pageAnswers sees that the page is there while the cluster comes up.
func (r *running) pageAnswers(t *testing.T, addr net.Addr) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr.String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the first page answers %s, %v", res.Status, err)
	}
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("serving ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not stop")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func grade(t *testing.T, r *running, ref labs.Ref) *study.Attempt {
	t.Helper()
	a, err := r.Study.Grade(t.Context(), study.Local, ref)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// answer applies the reference manifest as the learner would: with kubectl and
// the learner's kubeconfig.
func answer(t *testing.T, r *running, ref labs.Ref) {
	t.Helper()
	if err := r.Study.RevealSolution(t.Context(), study.Local, ref); err != nil {
		t.Fatal(err)
	}
	v, err := r.Study.Open(t.Context(), study.Local, ref)
	if err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs("../../bin/podproof")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "kubectl", "apply", "--context", v.Namespace, "-f", "-")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+app.Kubeconfig(r.Config))
	cmd.Stdin = strings.NewReader(v.Solution.Answer.Text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}
