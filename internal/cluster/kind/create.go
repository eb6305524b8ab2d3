package kind

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	podproof "github.com/podproof/podproof/internal/cluster"
)

// kind's Create takes no context and waits for programs that may hang. So it
// runs in a helper process (RunHelper) with a process group of its own: the
// helper can stop every program that kind has started, and take back what was
// made, when its standard input ends. That happens when Ensure is cancelled
// and also when this process is killed, which no clean-up of its own would
// survive.

// request is the line that the helper reads.
type request struct {
	Name    string
	Runtime Runtime
	Config  []byte // complete kind configuration
	Scratch string // folder for kind's kubeconfig
}

// message is a line that the helper writes.
type message struct {
	Step, Text string
	Done       bool
	Failed     string
	// Result ends the conversation: "" is still running, "ok" or an error.
	Result string
}

const resultOK = "ok"

// cancelGrace is how long a cancelled helper may take to clean up before it
// is killed and cleaned up after.
const cancelGrace = 30 * time.Second

// create lets the helper run kind's Create and passes its events on.
func (p *Provider) create(ctx context.Context, cli *cli, lock *lock, progress podproof.Progress) error {
	config, err := buildConfig(p.opts.Config, p.opts.Name, p.opts.NodeImage)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(config) // JSON is YAML, and the tags are the same
	if err != nil {
		return fmt.Errorf("write kind configuration: %w", err)
	}
	scratch := lock.path + ".scratch"
	defer removeQuietly(scratch)
	line, err := json.Marshal(request{Name: p.opts.Name, Runtime: cli.runtime, Config: raw, Scratch: scratch})
	if err != nil {
		return fmt.Errorf("write request to the kind helper: %w", err)
	}

	cmd := exec.Command(p.opts.Helper[0], p.opts.Helper[1:]...)
	ownGroup(cmd)
	lock.share(cmd)
	errout := &lineLog{log: p.opts.Log}
	cmd.Stderr = errout
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the kind helper: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the kind helper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the kind helper: %w", err)
	}

	ended := make(chan struct{})
	defer func() { <-ended }()
	answered := make(chan string, 1)
	go func() {
		defer close(ended)
		answered <- relay(stdout, progress)
		_ = cmd.Wait() // its result has been read; how it exits adds nothing
	}()

	_, err = stdin.Write(append(line, '\n'))
	if err == nil {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	_ = stdin.Close() // tells the helper to stop, if it still runs
	select {
	case <-ended:
	case <-time.After(cancelGrace):
		killGroup(cmd)
		<-ended
	}
	result := <-answered
	switch {
	case result == resultOK:
		return context.Cause(ctx)
	case ctx.Err() != nil:
		return fmt.Errorf("create kind cluster %q: %w", p.opts.Name, context.Cause(ctx))
	case result == "":
		return fmt.Errorf("create kind cluster %q: the helper process ended early: %s", p.opts.Name, errout.tail())
	default:
		return fmt.Errorf("create kind cluster %q: %w", p.opts.Name, failure(result))
	}
}

// ErrNoNodeImage is wrapped by Ensure's error where the node image is not on
// the machine and cannot be pulled.
var ErrNoNodeImage = errors.New("there is no node image")

// failure is the helper's result as an error.
func failure(result string) error {
	if strings.Contains(strings.ToLower(result), pullFailed) {
		return fmt.Errorf("%w: %s", ErrNoNodeImage, advise(result))
	}
	return errors.New(advise(result))
}

// pullFailed is what kind says of an image that it cannot pull.
const pullFailed = "failed to pull image"

// relay passes the helper's events on and returns its result, "" if it died.
func relay(from io.Reader, progress podproof.Progress) string {
	lines := json.NewDecoder(from)
	for {
		var m message
		if err := lines.Decode(&m); err != nil {
			_, _ = io.Copy(io.Discard, from)
			return ""
		}
		if m.Result != "" {
			return m.Result
		}
		e := podproof.Event{Step: m.Step, Text: m.Text, Done: m.Done}
		if m.Failed != "" {
			e.Err = errors.New(m.Failed)
		}
		emit(progress, e)
	}
}

// advise adds the way out to errors of kind that people often meet.
func advise(text string) string {
	low := strings.ToLower(text)
	for _, a := range []struct{ when, advice string }{
		{pullFailed, "the node image is not on this machine and can't be pulled: check the network and the image's name, or load it beforehand (docker load)"},
		{"no space left on device", "free some disk space (docker system df tells what the runtime holds)"},
		{"port is already allocated", "another program has the port: change it in the kind configuration"},
		{"address already in use", "another program has the port: change it in the kind configuration"},
		{"too many open files", "raise the inotify limits: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"},
		{"could not find a log line", "the node container did not boot: look at the memory and, with old kernels, at cgroups; see https://kind.sigs.k8s.io/docs/user/known-issues/"},
	} {
		if strings.Contains(low, a.when) {
			return text + "\n" + a.advice
		}
	}
	return text
}

// lineLog logs what the helper prints and keeps the end of it.
type lineLog struct {
	log *slog.Logger

	mu   sync.Mutex
	kept bytes.Buffer
}

func (l *lineLog) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		l.log.Debug("kind helper", "line", string(bytes.TrimSpace(line)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept.Len() > 64<<10 {
		l.kept.Reset()
	}
	return l.kept.Write(b)
}

func (l *lineLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lastLines(l.kept.String(), 5)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// RunHelper is the helper process: it reads one request from stdin, runs
// kind's Create and writes what happens to stdout. When stdin ends or the
// process is asked to end, it stops kind's programs and removes what was
// made. It returns the exit code. The log, for people, goes to stderr.
func RunHelper(stdin io.Reader, stdout, stderr io.Writer) int {
	keepLock()
	stop, release := helperSignals()
	defer release()

	var req request
	input := json.NewDecoder(stdin)
	if err := input.Decode(&req); err != nil {
		_, _ = fmt.Fprintln(stderr, "kind helper: read request:", err)
		return 2
	}
	defer removeQuietly(req.Scratch)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, io.MultiReader(input.Buffered(), stdin))
		cancel()
	}()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()

	var mu sync.Mutex
	out := json.NewEncoder(stdout)
	// A failed write means that nobody listens; stdin tells the same.
	say := func(m message) { mu.Lock(); defer mu.Unlock(); _ = out.Encode(m) }

	p := &Provider{opts: Options{
		Name: req.Name,
		Log:  slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}}
	c := &cli{runtime: req.Runtime}
	log := p.logger(func(e podproof.Event) {
		if ctx.Err() != nil {
			return // programs that were stopped may look like steps that were done
		}
		m := message{Step: e.Step, Text: e.Text, Done: e.Done}
		if e.Err != nil {
			m.Failed = e.Err.Error()
		}
		say(m)
	})

	done := make(chan error, 1)
	go func() { done <- c.createWithKind(log, req) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		returned := stopPrograms(done)
		undo, cancel := context.WithTimeout(context.Background(), undoTimeout)
		defer cancel()
		if err = p.remove(undo, c); err == nil {
			err = errors.New("cancelled")
		}
		if !returned {
			defer killSelf()
		}
	}
	if err != nil {
		say(message{Result: explain(err).Error()})
		return 1
	}
	say(message{Result: resultOK})
	return 0
}

func (c *cli) createWithKind(l *logger, req request) error {
	if err := os.MkdirAll(req.Scratch, 0o700); err != nil {
		return err
	}
	return c.kind(l).Create(req.Name, createOptions(req)...)
}

// stopPrograms ends the programs that kind waits for, again and again, since
// kind may start the next one, until Create has returned. It gives up after a
// while and then tells so.
func stopPrograms(done <-chan error) (returned bool) {
	giveUp := time.After(cancelGrace / 2)
	for {
		endGroup()
		select {
		case <-done: //nolint:errcheck // it was called off: how it ended is of no interest
			return true
		case <-giveUp:
			return false
		case <-time.After(200 * time.Millisecond):
		}
	}
}
