//go:build browser

package browser_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"k8s.io/client-go/tools/clientcmd"
)

// seen waits until a page says that it follows the cluster, or does not.
func (b *tab) seen(state string) {
	b.Helper()
	b.await("document.querySelector('#live').dataset.state === '"+state+"'", time.Minute)
}

const nativeHolds = "document.querySelector('#check-native.is-live.verdict-pass')"

func TestChecksTurnGreenWhileALearnerWorks(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	b.reset()
	b.seen("on")
	b.await("document.querySelector('#check-native.is-live.verdict-fail')", 10*time.Second)
	b.shot("live-before")

	inst := s.instance(t, sidecar())
	s.kubectl(t, inst.Answer.Text, "apply", "-n", inst.Namespace, "-f", "-")
	b.await(nativeHolds, 10*time.Second)
	b.await("document.querySelector('#check-web.is-live.verdict-pass')", time.Minute)
	if got := b.text("#check-ships"); !strings.Contains(got, "when you press Check") {
		t.Errorf("a check with probes says %q", got)
	}
	if n := eval[int](b, "document.querySelectorAll('.attempt-list li').length"); n != 0 {
		t.Errorf("%d attempts were stored without a grading", n)
	}
	b.shot("live-holds")
	b.inEveryDress("live-holds")
	b.seen("on")

	b.check(1)
	b.await("document.querySelector('.proved') && !document.querySelector('.check.is-live')", 10*time.Second)
	s.kubectl(t, "", "delete", "-n", inst.Namespace, "pod", "web-logs", "--now")
	b.await("document.querySelector('#check-native.is-live.verdict-fail')", time.Minute)
	if got := b.text("#task-state"); !strings.Contains(got, "Solved") {
		t.Errorf("a solved task stays solved, but it is %q", got)
	}
	b.shot("live-solved-and-gone")
	b.reset()
}

func TestALivePageComesBackAfterTheServer(t *testing.T) {
	data, addr, kubeconfig := t.TempDir(), fixedAddr(t), env(t, "PODPROOF_TEST_KUBECONFIG")
	s := startAt(t, data, addr, kubeconfig)
	b := open(t, s)
	b.allowed = "/live"
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	b.reset()
	b.seen("on")

	stopping := time.Now()
	s.stop(t)
	if took := time.Since(stopping); took > 8*time.Second {
		t.Errorf("an open page held the server up for %s", took)
	}
	b.seen("lost")
	b.shot("live-lost")
	inst := s.instance(t, sidecar())
	s.kubectl(t, inst.Answer.Text, "apply", "-n", inst.Namespace, "-f", "-")
	startAt(t, data, addr, kubeconfig)
	b.seen("on")
	b.await(nativeHolds, 10*time.Second)
	b.reset()
}

// fixedAddr is a free address that stays free while its server is away: below
// the ports that the system gives to whoever asks for any.
func fixedAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr); err == nil {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}

func TestALivePageSaysWhenTheClusterIsOutOfSight(t *testing.T) {
	gate, kubeconfig := openGate(t)
	s := startAt(t, t.TempDir(), "127.0.0.1:0", kubeconfig)
	b := open(t, s)
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	b.reset()
	b.seen("on")

	gate.set(false)
	b.seen("away")
	if got := b.text("#live"); !strings.Contains(got, "does not answer") {
		t.Errorf("the page says %q", got)
	}
	b.shot("live-away")
	gate.set(true)
	b.seen("on")
	inst := s.instance(t, sidecar())
	s.kubectl(t, inst.Answer.Text, "apply", "-n", inst.Namespace, "-f", "-")
	b.await(nativeHolds, 10*time.Second)
	b.reset()
}

// gate stands between podproof and the API server; shut, it lets nothing by.
type gate struct {
	to    string
	mu    sync.Mutex
	open  bool
	conns map[net.Conn]bool
}

// openGate returns a gate and a kubeconfig that leads through it.
func openGate(t *testing.T) (*gate, string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(env(t, "PODPROOF_TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	u, err := url.Parse(cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{to: u.Host, open: true, conns: map[net.Conn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() { g.serve(l) })
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		g.set(false)
		serving.Wait()
	})
	cluster.Server = "https://" + l.Addr().String()
	cluster.TLSServerName = u.Hostname()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return g, file
}

func (g *gate) serve(l net.Listener) {
	var flows sync.WaitGroup
	defer flows.Wait()
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", g.to)
		if err != nil || !g.admit(in, out) {
			_ = in.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
			flows.Go(func() {
				_, _ = io.Copy(way[0], way[1]) // ends with either side
				_, _ = way[0].Close(), way[1].Close()
			})
		}
	}
}

func (g *gate) admit(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.conns[c] = true
		if !g.open {
			_ = c.Close()
		}
	}
	return g.open
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = open
	if !open {
		for c := range g.conns {
			_ = c.Close() // may have ended already
		}
		clear(g.conns)
	}
}
