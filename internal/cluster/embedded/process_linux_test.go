package embedded

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStartTimeOfAnyProgramName(t *testing.T) {
	fields := strings.Repeat("0 ", 18) + "4711 1 2 3"
	for _, name := range []string{"etcd", "a b", "a) S 1 (", "((("} {
		got, err := startTime("12 (" + name + ") S " + fields)
		if err != nil || got != 4711 {
			t.Errorf("program %q: start time %d, %v; want 4711", name, got, err)
		}
	}
	if _, err := startTime("12 (x) S 1"); err == nil {
		t.Error("a short line is not an error")
	}
}

func TestOnlyTheVerySameProcessIsEnded(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })

	id, err := identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	laterProcess, otherProgram := id, id
	laterProcess.Start++
	otherProgram.Exe = "/bin/other"
	for name, stranger := range map[string]processID{"later process": laterProcess, "other program": otherProgram} {
		if stranger.running() {
			t.Errorf("%s with the same number counts as the one we started", name)
		}
		if err := stranger.end(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !id.running() {
		t.Fatal("a process that has only its number in common with ours was ended")
	}
	if err := id.end(t.Context()); err != nil {
		t.Fatal(err)
	}
	if id.running() {
		t.Error("our process still runs")
	}
}

func TestEndGivesUpWithItsContext(t *testing.T) {
	self, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !self.running() {
		t.Error("this very process is not recognised")
	}
	gone := processID{PID: 1 << 30, Start: 1, Exe: "/x"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gone.end(ctx); err != nil {
		t.Errorf("a process that is gone needs no waiting: %v", err)
	}
}

func TestBackoffGrowsToALimit(t *testing.T) {
	last := time.Duration(0)
	for deaths := 1; deaths < 40; deaths++ {
		got := backoff(deaths)
		if got < last || got > lastBackoff {
			t.Fatalf("after %d deaths %v, after %v before", deaths, got, last)
		}
		last = got
	}
	if last != lastBackoff {
		t.Errorf("it ends at %v, want %v", last, lastBackoff)
	}
}

func TestLogsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd.log")
	l := &boundedLog{path: path, limit: 100}
	for i := range 50 {
		if _, err := l.Write([]byte(strings.Repeat(string(rune('a'+i%26)), 9) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + ".1"} {
		if st, err := os.Stat(p); err != nil || st.Size() > 100 {
			t.Errorf("%s: %v, %v; want at most 100 bytes", p, st, err)
		}
	}
	if got := tail(path, 2); got != strings.Repeat("w", 9)+"\n"+strings.Repeat("x", 9) {
		t.Errorf("the last two lines are %q", got)
	}
}

func TestLogToAFullOrMissingDiskHurtsNobody(t *testing.T) {
	l := &boundedLog{path: filepath.Join(t.TempDir(), "no", "such", "folder"), limit: 100}
	if n, err := l.Write([]byte("x\n")); n != 2 || err != nil {
		t.Errorf("Write = %d, %v; want 2, nil", n, err)
	}
}
