//go:build kind

// Package kind_test drives the kind provider on a real container runtime. It
// uses whichever runtime answers; run.sh brings a private Docker daemon.
package kind_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	podproof "github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/kind"
)

// The test binary is also the two programs that the tests need.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "internal" && os.Args[2] == "kind-create":
		os.Exit(kind.RunHelper(os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) == 4 && os.Args[1] == "ensure":
		os.Exit(ensure(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// ensure is a podproof that makes a cluster, to be killed by a test; it prints
// each step as it begins.
func ensure(name, lockDir string) int {
	p, err := kind.New(options(name, lockDir))
	if err == nil {
		err = p.Ensure(context.Background(), func(e podproof.Event) { os.Stdout.WriteString(e.Step + "\n") })
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

func options(name, lockDir string) kind.Options {
	o := kind.Options{Name: name, LockDir: lockDir, NodeImage: os.Getenv("PODPROOF_TEST_KIND_IMAGE")}
	if archive := os.Getenv("PODPROOF_TEST_KIND_ARCHIVE"); archive != "" {
		o.Archives = []string{archive}
	}
	return o
}

// provider returns a provider whose cluster is gone after the test. HOME is an
// empty folder, so that a written kubeconfig would be seen.
func provider(t *testing.T, name string) (p *kind.Provider, lockDir string) {
	t.Helper()
	lockDir = t.TempDir()
	t.Setenv("HOME", t.TempDir())
	p, err := kind.New(options(name, lockDir))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Available(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("containers: %s", runtime(t, "ps", "-a"))
		}
		if err := p.Delete(context.Background(), nil); err != nil {
			t.Errorf("delete after the test: %v", err)
		}
	})
	return p, lockDir
}

// log collects events and prints them with the time since its start.
type log struct {
	t     *testing.T
	start time.Time
	on    func(podproof.Event) // may be nil

	mu    sync.Mutex
	steps []string
}

func newLog(t *testing.T) *log { return &log{t: t, start: time.Now()} }

func (l *log) progress(e podproof.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := "begins"
	if e.Done {
		what = "done"
	} else {
		l.steps = append(l.steps, e.Step)
	}
	if e.Err != nil {
		what = "failed: " + e.Err.Error()
	}
	l.t.Logf("%6.1fs  %-16s %-6s %s", time.Since(l.start).Seconds(), e.Step, what, e.Text)
	if l.on != nil {
		l.on(e)
	}
}

func (l *log) began(step string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.steps, step)
}

// runtime runs a command of the container runtime that the providers find too.
func runtime(t *testing.T, args ...string) string {
	t.Helper()
	program, err := kind.Detect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(string(program), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// nothingLeft fails the test if anything of the cluster is still there.
func nothingLeft(t *testing.T, p *kind.Provider, name, lockDir string) {
	t.Helper()
	if left := runtime(t, "ps", "--all", "--quiet", "--filter", "label=io.x-k8s.kind.cluster="+name); left != "" {
		t.Errorf("containers are left: %s", left)
	}
	if left := runtime(t, "volume", "ls", "--quiet"); left != "" {
		t.Errorf("volumes are left: %s", left)
	}
	for _, dir := range []string{os.Getenv("HOME"), lockDir} {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(files, hidden...) {
			if filepath.Ext(f) != ".lock" && filepath.Base(f) != ".docker" {
				t.Errorf("left on disk: %s", f)
			}
		}
	}
	status(t, p, podproof.Absent)
}

func status(t *testing.T, p *kind.Provider, want podproof.State) podproof.Status {
	t.Helper()
	got, err := p.Status(t.Context())
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	if got.State != want {
		t.Errorf("status is %+v, want %s", got, want)
	}
	return got
}

func TestCancelledCreationLeavesNothing(t *testing.T) {
	for _, at := range []string{"node-containers", "control-plane"} {
		t.Run(at, func(t *testing.T) {
			name := "cancelled-" + at
			p, lockDir := provider(t, name)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := newLog(t)
			l.on = func(e podproof.Event) {
				if e.Step == at && !e.Done {
					time.AfterFunc(2*time.Second, cancel) // into the middle of the step
				}
			}
			err := p.Ensure(ctx, l.progress)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Ensure returned %v, want that it was cancelled", err)
			}
			nothingLeft(t, p, name, lockDir)
		})
	}
}

func TestKilledCreationCleansUpAfterItself(t *testing.T) {
	const name = "killed"
	p, lockDir := provider(t, name)
	victim := startVictim(t, name, lockDir, "control-plane")
	status(t, p, podproof.Starting)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()

	// The helper still holds the lock; who comes next waits for it.
	start := time.Now()
	if err := p.Delete(t.Context(), newLog(t).progress); err != nil {
		t.Fatal(err)
	}
	t.Logf("the helper was gone %.1fs after its podproof was killed", time.Since(start).Seconds())
	nothingLeft(t, p, name, lockDir)
}

func TestForeignClusterIsLeftAlone(t *testing.T) {
	const name = "foreign"
	p, _ := provider(t, name)
	image := os.Getenv("PODPROOF_TEST_KIND_IMAGE")
	if image == "" {
		image = kind.DefaultNodeImage
	}
	id := runtime(t, "create", "--label", "io.x-k8s.kind.cluster="+name, "--label", "io.x-k8s.kind.role=control-plane", image)
	t.Cleanup(func() { runtime(t, "rm", "--force", "--volumes", id) })

	for what, err := range map[string]error{
		"Ensure":     p.Ensure(t.Context(), nil),
		"Delete":     p.Delete(t.Context(), nil),
		"LoadImages": p.LoadImages(t.Context(), nil, nil),
	} {
		if foreign := (*kind.ForeignError)(nil); !errors.As(err, &foreign) {
			t.Errorf("%s returned %v, want a ForeignError", what, err)
		}
	}
	status(t, p, podproof.Broken)
	if state := runtime(t, "inspect", "--format", "{{.State.Status}}", id); state != "created" {
		t.Errorf("the foreign container is now %s", state)
	}
}

// startVictim starts a podproof that makes a cluster and returns when it has
// begun the step.
func startVictim(t *testing.T, name, lockDir, step string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "ensure", name, lockDir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := ""
	buf := make([]byte, 256)
	for !strings.Contains(seen, step+"\n") {
		n, err := stdout.Read(buf)
		if err != nil {
			t.Fatalf("podproof ended after the steps %q: %v", seen, err)
		}
		seen += string(buf[:n])
	}
	time.Sleep(2 * time.Second) // into the middle of the step
	return cmd
}

// killAll kills a podproof together with its helper, whose parent it is, as a
// crash of the machine would.
func killAll(t *testing.T, victim *exec.Cmd) {
	t.Helper()
	// The helper first: it would begin to clean up if it outlived the other.
	out, err := exec.Command("pgrep", "--parent", strconv.Itoa(victim.Process.Pid)).Output()
	if err != nil {
		t.Fatalf("find the helper: %v", err)
	}
	for _, field := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
			t.Fatalf("kill the helper's group: %v", err)
		}
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
}
