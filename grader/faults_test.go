package grader_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/podproof/podproof/grader"
)

// faulty passes calls on to stored evidence, unless a fault is injected.
type faulty struct {
	grader.Cluster
	snapshot func(ctx context.Context) (*grader.Snapshot, error)
	exec     func(ctx context.Context) (grader.ExecResult, error)
	logs     func(ctx context.Context, most int) (string, error)
	scratch  func() (grader.Scratch, error)
}

func (f *faulty) Snapshot(ctx context.Context, ns string, kinds []grader.Kind) (*grader.Snapshot, error) {
	if f.snapshot != nil {
		return f.snapshot(ctx)
	}
	return f.Cluster.Snapshot(ctx, ns, kinds)
}

func (f *faulty) Exec(ctx context.Context, pod grader.PodRef, container string, command []string) (grader.ExecResult, error) {
	if f.exec != nil {
		return f.exec(ctx)
	}
	return f.Cluster.Exec(ctx, pod, container, command)
}

func (f *faulty) Logs(ctx context.Context, pod grader.PodRef, container string, previous bool, most int) (string, error) {
	if f.logs != nil {
		return f.logs(ctx, most)
	}
	return f.Cluster.Logs(ctx, pod, container, previous, most)
}

func (f *faulty) Scratch(ctx context.Context) (grader.Scratch, error) {
	if f.scratch != nil {
		return f.scratch()
	}
	return f.Cluster.Scratch(ctx)
}

const runningPod = `
kind: Pod
metadata: {name: p, labels: {app: p}}
spec: {containers: [{name: c, image: busybox}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-15T11:58:10Z"}]
  containerStatuses: [{name: c, ready: true, state: {running: {startedAt: "2026-01-15T11:58:05Z"}}}]
`

const startingPod = `
kind: Pod
metadata: {name: p, creationTimestamp: "2026-01-15T11:59:58Z", labels: {app: p}}
spec: {containers: [{name: c, image: busybox}]}
status: {phase: Pending}
`

const crashingPod = `
kind: Pod
metadata: {name: p, labels: {app: p}}
spec: {containers: [{name: c, image: busybox}]}
status:
  phase: Running
  containerStatuses: [{name: c, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]
`

func one(matcher string) string {
	return "- id: it\n  title: {en: x, ja: x}\n  pod: p\n  " + matcher + "\n"
}

// grade evaluates in a bubble where time is free, and returns what it took.
func grade(t *testing.T, ctx context.Context, checks string, c grader.Cluster, mode grader.Mode) (*grader.Report, time.Duration) {
	t.Helper()
	program, err := grader.Compile(instance(t, checks))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	report := program.Evaluate(ctx, c, grader.Options{Mode: mode, Nonce: nonce})
	return report, time.Since(start)
}

func evidence(t *testing.T, objects string) grader.Cluster {
	return grader.Replay(&grader.Evidence{Snapshot: snapshot(t, objects)})
}

func TestWhatCannotBeLookedAtIsAnErrorAndNeverAFailure(t *testing.T) {
	refused := errors.New("dial tcp 127.0.0.1:6443: connect: connection refused")
	hang := func(ctx context.Context) (grader.ExecResult, error) {
		<-ctx.Done()
		return grader.ExecResult{}, ctx.Err()
	}
	for name, tt := range map[string]struct {
		check  string
		fault  faulty
		want   string
		atMost time.Duration
	}{
		"API server down": {
			check: "status: {ready: true}",
			fault: faulty{snapshot: func(context.Context) (*grader.Snapshot, error) { return nil, refused }},
			want:  "it error error.cluster", atMost: 3 * time.Second,
		},
		"API server hangs": {
			check: "status: {ready: true}",
			fault: faulty{snapshot: func(context.Context) (*grader.Snapshot, error) {
				return nil, fmt.Errorf("list pods: %w", context.DeadlineExceeded)
			}},
			want: "it error error.timeout", atMost: 3 * time.Second,
		},
		"forbidden to exec": {
			check: "exec: {container: c, command: [id]}",
			fault: faulty{exec: func(context.Context) (grader.ExecResult, error) {
				return grader.ExecResult{}, errors.New("pods \"p\" is forbidden")
			}},
			want: "it error error.cluster", atMost: 22 * time.Second,
		},
		"hung exec": {
			check: "exec: {container: c, command: [id], within: 5s}",
			fault: faulty{exec: hang},
			want:  "it error error.timeout", atMost: 25 * time.Second,
		},
		"no shell": {
			check: "exec: {container: c, command: [id]}",
			fault: faulty{exec: func(context.Context) (grader.ExecResult, error) {
				return grader.ExecResult{}, fmt.Errorf("exec: %w", grader.ErrNoShell)
			}},
			want: "it error error.noShell", atMost: time.Second,
		},
		"logs unavailable": {
			check: "logs: {container: c, contains: x, within: 2s}",
			fault: faulty{logs: func(context.Context, int) (string, error) { return "", refused }},
			want:  "it error error.cluster", atMost: 5 * time.Second,
		},
		"no scratch namespace": {
			check: "trial: {run: {}}",
			fault: faulty{scratch: func() (grader.Scratch, error) { return nil, errors.New("quota exceeded") }},
			want:  "it error error.cluster", atMost: time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.fault.Cluster = evidence(t, runningPod)
				report, took := grade(t, t.Context(), one(tt.check), &tt.fault, grader.Submit)
				if got := told(report); got != tt.want {
					t.Errorf("told %q, want %q\n%s", got, tt.want, details(report))
				}
				if took > tt.atMost {
					t.Errorf("took %v, more than %v", took, tt.atMost)
				}
				if earned, _ := report.Points(); earned != 0 {
					t.Errorf("earned %d", earned)
				}
			})
		})
	}
}

func TestTheRightVerdictComesOnceTheClusterIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := &faulty{Cluster: evidence(t, runningPod)}
		c.snapshot = func(context.Context) (*grader.Snapshot, error) {
			if tries++; tries < 3 {
				return nil, errors.New("connection refused")
			}
			return snapshot(t, runningPod), nil
		}
		report, _ := grade(t, t.Context(), one("status: {ready: true}"), c, grader.Submit)
		if got := told(report); got != "it pass status.passed" {
			t.Error(got)
		}
	})
}

func TestSubmittingWaitsForWhatIsStillStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := &faulty{Cluster: evidence(t, runningPod)}
		c.snapshot = func(context.Context) (*grader.Snapshot, error) {
			if time.Since(start) < 7*time.Second {
				return snapshot(t, startingPod), nil
			}
			return snapshot(t, runningPod), nil
		}
		report, took := grade(t, t.Context(), one("status: {ready: true, within: 10s}"), c, grader.Submit)
		if got := told(report); got != "it pass status.passed" {
			t.Error(got)
		}
		if took > 9*time.Second {
			t.Errorf("took %v", took)
		}
		report, took = grade(t, t.Context(), one("status: {ready: true, within: 10s}"), c, grader.Live)
		if took > time.Second {
			t.Errorf("a live look waited %v", took)
		}
		if got := told(report); got != "it pass status.passed" {
			t.Error(got)
		}
	})
}

func TestWhatStillStartsWhenTimeIsUpIsNotYetDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &faulty{Cluster: evidence(t, startingPod)}
		report, took := grade(t, t.Context(), one("status: {ready: true, within: 10s}"), c, grader.Submit)
		if got := told(report); got != "it pending container.creating" {
			t.Error(got)
		}
		if took < 10*time.Second || took > 12*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestWhatCannotGetBetterIsJudgedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &faulty{Cluster: evidence(t, crashingPod)}
		report, took := grade(t, t.Context(), one("status: {ready: true, within: 60s}"), c, grader.Submit)
		if got := told(report); !strings.HasPrefix(got, "it fail container.crashLoop") {
			t.Error(got)
		}
		if took > time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAStoppedGradingEndsSoonAndLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		c := &faulty{Cluster: evidence(t, runningPod), exec: func(ctx context.Context) (grader.ExecResult, error) {
			<-ctx.Done()
			return grader.ExecResult{}, ctx.Err()
		}}
		checks := one("exec: {container: c, command: [id]}") + strings.ReplaceAll(one("labels: {labels: {app: p}}"), "id: it", "id: other")
		report, took := grade(t, ctx, checks, c, grader.Submit)
		if got := told(report); got != "it error error.stopped\nother pass labels.carried" {
			t.Error(got)
		}
		if took > 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestProbesRunSideBySideWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		c := &faulty{Cluster: evidence(t, runningPod), exec: func(context.Context) (grader.ExecResult, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return grader.ExecResult{}, nil
		}}
		var checks strings.Builder
		for i := range 12 {
			checks.WriteString(strings.ReplaceAll(one("exec: {container: c, command: [id]}"), "id: it", fmt.Sprintf("id: c%d", i)))
		}
		report, took := grade(t, t.Context(), checks.String(), c, grader.Submit)
		if v := report.Verdict(); v != grader.Pass {
			t.Error(v)
		}
		if most.Load() < 2 || most.Load() > 4 {
			t.Errorf("%d probes at one time", most.Load())
		}
		if took > 4*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestEvidenceOfAHugeLogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &faulty{Cluster: evidence(t, runningPod), logs: func(_ context.Context, most int) (string, error) {
			return strings.Repeat("日", most/3) + " end", nil
		}}
		report, _ := grade(t, t.Context(), one("logs: {container: c, contains: end}"), c, grader.Submit)
		if got := told(report); got != "it pass logs.passed" {
			t.Error(got)
		}
		for key, kept := range report.Evidence.Probes {
			if len(kept) > 80<<10 {
				t.Errorf("%s keeps %d bytes", key, len(kept))
			}
		}
		if n := len(report.Results[0].Excerpt); n > 2100 {
			t.Errorf("the excerpt has %d bytes", n)
		}
	})
}

// untouchable fails the test when anything but a snapshot is asked for.
type untouchable struct {
	grader.Cluster
	t *testing.T
}

func (u untouchable) Logs(context.Context, grader.PodRef, string, bool, int) (string, error) {
	u.t.Error("a live look read a log")
	return "", nil
}

func (u untouchable) Exec(context.Context, grader.PodRef, string, []string) (grader.ExecResult, error) {
	u.t.Error("a live look ran a command")
	return grader.ExecResult{}, nil
}

func (u untouchable) Get(context.Context, grader.PodRef, string, string) (grader.GetResult, error) {
	u.t.Error("a live look fetched a URL")
	return grader.GetResult{}, nil
}

func (u untouchable) Scratch(context.Context) (grader.Scratch, error) {
	u.t.Error("a live look made a namespace")
	return nil, errors.New("no")
}

// These hold for every check and every state in testdata.
func TestRulesOfEveryReport(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checks := string(archive.Files[0].Data)
		program, err := grader.Compile(instance(t, checks))
		if err != nil {
			t.Fatal(err)
		}
		nothing := program.Evaluate(t.Context(), evidence(t, ""), grader.Options{Mode: grader.Submit})
		if earned, _ := nothing.Points(); earned != 0 {
			t.Errorf("%s: doing nothing earns %d points\n%s", name, earned, details(nothing))
		}
		for _, f := range archive.Files {
			if !strings.HasSuffix(f.Name, ".yaml") {
				continue
			}
			e := &grader.Evidence{Snapshot: snapshot(t, string(f.Data)), Nonce: nonce}
			program.Evaluate(t.Context(), untouchable{grader.Replay(e), t}, grader.Options{Mode: grader.Live})
			first := program.Evaluate(t.Context(), grader.Replay(e), grader.Options{Mode: grader.Submit})
			again := program.Evaluate(t.Context(), grader.Replay(e), grader.Options{Mode: grader.Submit})
			later := program.Evaluate(t.Context(), grader.Replay(first.Evidence), grader.Options{Mode: grader.Submit})
			same := cmpopts.IgnoreFields(grader.Report{}, "Started", "Finished", "Evidence")
			if diff := cmp.Diff(first, again, same); diff != "" {
				t.Errorf("%s %s: grading twice differs:\n%s", name, f.Name, diff)
			}
			if diff := cmp.Diff(first, later, same); diff != "" {
				t.Errorf("%s %s: grading the evidence again differs:\n%s", name, f.Name, diff)
			}
			for _, r := range first.Results {
				if r.Reason.ID == "" || r.Rank == "" {
					t.Errorf("%s %s: %s has no reason or rank: %+v", name, f.Name, r.Check, r)
				}
				if (r.Verdict == grader.Pass) != (r.Earned == r.Points) {
					t.Errorf("%s %s: %s is %s and earns %d of %d", name, f.Name, r.Check, r.Verdict, r.Earned, r.Points)
				}
			}
		}
	}
}
