package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// component is a supervised process of the node: when it dies, that is
// reported and it is started again, after a pause that grows while it keeps dying.
type component struct {
	command
	node    *node
	logPath string
	logger  *slog.Logger

	mu       sync.Mutex
	cmd      *exec.Cmd
	started  bool
	stopping bool
	deaths   int // since it last ran well

	wake chan struct{} // closed by stop
	done chan struct{} // closed when it is down for good
}

const (
	logLimit     = 8 << 20
	firstBackoff = 250 * time.Millisecond
	lastBackoff  = 10 * time.Second
	// ranWell is how long a component must have run for its earlier deaths to be forgotten.
	ranWell = 30 * time.Second
)

func newComponent(c command, n *node, logDir string, logger *slog.Logger) *component {
	return &component{
		command: c, node: n, logger: logger, logPath: filepath.Join(logDir, c.name+".log"),
		wake: make(chan struct{}), done: make(chan struct{}),
	}
}

func (p *component) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = true
	go p.supervise()
}

func (p *component) supervise() {
	defer close(p.done)
	out := &boundedLog{path: p.logPath, limit: logLimit}
	defer func() { _ = out.Close() }()
	for {
		began := time.Now()
		err := p.runOnce(out)
		p.mu.Lock()
		if time.Since(began) > ranWell {
			p.deaths = 0
		}
		p.deaths++
		pause, stopping := backoff(p.deaths), p.stopping
		p.mu.Unlock()
		if stopping {
			return
		}
		if p.node.ended() {
			return // the provider reports that
		}
		p.logger.Error("a component of the cluster ended; it is started again",
			"component", p.name, "after", time.Since(began).Round(time.Millisecond), "again_in", pause, "log", p.logPath, "error", err)
		select {
		case <-time.After(pause):
		case <-p.wake:
			return
		case <-p.node.gone:
			return
		}
	}
}

// runOnce starts the process and returns when it has ended.
func (p *component) runOnce(out *boundedLog) error {
	exe := "kubernetes"
	if p.name == "containerd" {
		exe = "containerd"
	}
	cmd := exec.Command(path.Join(nodeBin, exe)) // no context: it lives until stop, whatever started it
	cmd.Args = append([]string{p.name}, p.args...)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=" + nodeBin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}, p.env...)
	cmd.Env = append(cmd.Env, proxyEnvironment()...)
	cmd.Stdout, cmd.Stderr = out, out
	// Shims inherit containerd's output; they must not keep Wait from returning.
	cmd.WaitDelay = 500 * time.Millisecond
	err := p.node.do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.stopping {
			return errStopped
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		p.cmd = cmd
		return nil
	})
	if err != nil {
		return err
	}
	err = cmd.Wait()
	p.mu.Lock()
	p.cmd = nil
	p.mu.Unlock()
	return err
}

var errStopped = errors.New("stopped")

// stop asks the process to end, and insists after grace.
func (p *component) stop(grace time.Duration) {
	p.mu.Lock()
	started := p.started
	if !p.stopping {
		p.stopping = true
		close(p.wake)
	}
	p.signal(syscall.SIGTERM)
	p.mu.Unlock()
	if !started {
		return
	}
	select {
	case <-p.done:
	case <-time.After(grace):
		p.mu.Lock()
		p.signal(syscall.SIGKILL)
		p.mu.Unlock()
		<-p.done
	}
}

func (p *component) signal(s syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s) // it may have ended just now
	}
}

// failing says what is wrong with a component that keeps dying, or nil.
func (p *component) failing() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaths < 3 {
		return nil
	}
	return fmt.Errorf("%s ended %d times; the end of %s:\n%s", p.name, p.deaths, p.logPath, tail(p.logPath, 12))
}

func backoff(deaths int) time.Duration {
	d := firstBackoff
	for range deaths - 1 {
		if d *= 2; d > lastBackoff {
			return lastBackoff
		}
	}
	return d
}

// proxyEnvironment passes on how this machine reaches registries.
func proxyEnvironment() []string {
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// boundedLog is a file that starts anew when it has reached its limit; the one
// before is kept beside it as path.1.
type boundedLog struct {
	path  string
	limit int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// Write never fails: a full disk must not stop a component.
func (l *boundedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size+int64(len(b)) > l.limit {
		_ = l.file.Close()
		_ = os.Rename(l.path, l.path+".1")
		l.file = nil
	}
	if l.file == nil {
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
		if err != nil {
			return len(b), nil
		}
		l.file, l.size = f, 0
		if st, err := f.Stat(); err == nil {
			l.size = st.Size()
		}
	}
	n, _ := l.file.Write(b)
	l.size += int64(n)
	return len(b), nil
}

func (l *boundedLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// tail returns the last lines of a log, for an error's text.
func tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	const most = 16 << 10
	if st, err := f.Stat(); err == nil && st.Size() > most {
		_, _ = f.Seek(-most, 2)
	}
	b := make([]byte, most)
	n, _ := f.Read(b)
	all := strings.Split(strings.TrimSpace(string(b[:n])), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// processID recognises a process later on, although its number may have been
// given to another one meanwhile.
type processID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot
	Exe   string `json:"exe"`
}

func identify(pid int) (processID, error) {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return processID{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processID{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	start, err := startTime(string(stat))
	return processID{PID: pid, Start: start, Exe: exe}, err
}

// startTime is the 22nd field of /proc/PID/stat. The second is the program's
// name in brackets and may hold blanks and brackets itself.
func startTime(stat string) (uint64, error) {
	const afterName = 22 - 3
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) <= afterName {
		return 0, fmt.Errorf("read a process's start time: %q is too short", stat)
	}
	return strconv.ParseUint(f[afterName], 10, 64)
}

// running reports whether the very same process still runs.
func (id processID) running() bool {
	now, err := identify(id.PID)
	return err == nil && now.Start == id.Start && strings.TrimSuffix(now.Exe, " (deleted)") == strings.TrimSuffix(id.Exe, " (deleted)")
}

// end kills the process, if it is the one we mean, and waits till it is gone.
func (id processID) end(ctx context.Context) error {
	for id.running() {
		if err := syscall.Kill(id.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end process %d: %w", id.PID, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end process %d: %w", id.PID, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
