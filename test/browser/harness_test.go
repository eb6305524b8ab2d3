//go:build browser

// Package browser_test drives the real server with Chromium on a real cluster,
// as a learner would.
//
// PODPROOF_BIN is the binary and PODPROOF_TEST_KUBECONFIG the cluster; make
// sets both. CHROMIUM names another browser than the first one found.
// PODPROOF_SCREENSHOTS is a folder to leave pictures in.
package browser_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

func env(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set; `make test` sets it", name)
	}
	return v
}

// server is a running podproof with its own data folder.
type server struct {
	bin, data, url string
	cmd            *exec.Cmd
}

// start starts podproof on the tests' cluster and waits until that is ready.
func start(t *testing.T, data string) *server {
	t.Helper()
	return startAt(t, data, "127.0.0.1:0", env(t, "PODPROOF_TEST_KUBECONFIG"))
}

// startAt is start at an address of the caller's choice, by another kubeconfig
// of the tests' cluster.
func startAt(t *testing.T, data, addr, kubeconfig string) *server {
	t.Helper()
	s := &server{bin: env(t, "PODPROOF_BIN"), data: data}
	s.cmd = exec.Command(s.bin, "serve", "--addr", addr, "--data", data,
		"--cluster", "existing", "--kubeconfig", kubeconfig)
	s.cmd.Stderr = t.Output()
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	for lines := bufio.NewScanner(out); s.url == "" && lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "podproof is at "); ok {
			s.url = at
		}
	}
	if s.url == "" {
		t.Fatal("podproof ended without serving")
	}
	s.awaitCluster(t)
	return s
}

func (s *server) awaitCluster(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/cluster/band", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusNoContent {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// stop ends the server in order, as Ctrl-C does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("podproof ended badly: %v", err)
	}
	s.cmd = nil
}

// kubectl runs podproof's kubectl with the learner's rights.
func (s *server) kubectl(t *testing.T, stdin string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.bin, append([]string{"kubectl"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(s.data, "kubeconfig"))
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

// instance is the task as this learner has it: with the values drawn for them.
func (s *server) instance(t *testing.T, ref labs.Ref) *labs.Instance {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(s.data, "podproof.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	record, err := store.Ensure(t.Context(), study.Local, ref, 0)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	task, ok := catalog.Task(ref)
	if !ok {
		t.Fatalf("no task %s", ref)
	}
	inst, err := task.Instance(ref.Lab, record.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// tab is a page in a browser of its own. When the test ends it fails for a
// request to anywhere but the server, and for anything that the browser
// complained about: a refused script or style, a failed load, an exception.
type tab struct {
	*testing.T
	ctx  context.Context
	mu   sync.Mutex
	host map[string]bool
	bad  []string
	// allowed is a part of complaints that the test provokes.
	allowed string
}

func open(t *testing.T, s *server) *tab {
	t.Helper()
	b := &tab{T: t, host: map[string]bool{}}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("lang", "en"),
	)
	if path := os.Getenv("CHROMIUM"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx, chromedp.WithListener(b.hear))
	t.Cleanup(end)
	b.ctx = ctx
	b.allow(s)
	t.Cleanup(b.complain)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return err
	}), chromedp.EmulateViewport(1280, 900))
	return b
}

// allow lets pages load from a server.
func (b *tab) allow(s *server) {
	u, err := url.Parse(s.url)
	if err != nil {
		b.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host[u.Host] = true
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || strings.HasPrefix(u.Scheme, "http") && !b.host[u.Host] {
			b.bad = append(b.bad, "request to "+e.Request.URL)
		}
	case *cdplog.EventEntryAdded:
		b.bad = append(b.bad, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventExceptionThrown:
		b.bad = append(b.bad, "exception: "+e.ExceptionDetails.Text)
	}
}

func (b *tab) complain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.bad {
		if b.allowed == "" || !strings.Contains(line, b.allowed) {
			b.Errorf("the browser: %s", line)
		}
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.shot("failed-" + strings.ReplaceAll(b.Name(), "/", "-"))
		b.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression in the page.
func eval[R any](b *tab, expression string) R {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[R](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// await waits until a JavaScript expression is true. While a page gives way to
// the next, nothing is.
func (b *tab) await(expression string, within time.Duration) {
	b.Helper()
	guarded := "(() => { try { return Boolean(" + expression + ") } catch { return false } })()"
	for deadline := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](guarded)); err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			b.shot("failed-" + strings.ReplaceAll(b.Name(), "/", "-"))
			b.Fatalf("not within %s: %s\n%s", within, expression, b.text("main"))
		}
	}
}

func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '')", selector))
}

func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// shot leaves a picture of the whole page in PODPROOF_SCREENSHOTS.
func (b *tab) shot(name string) {
	b.Helper()
	dir := os.Getenv("PODPROOF_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.Errorf("screenshot: %v", err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.Error(err)
	}
}
