//go:build cluster

package app_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/config"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// TestAChangeOnTheClusterReachesThePageWithinASecond goes all the way: from an
// object that is applied to the row that a page is sent.
func TestAChangeOnTheClusterReachesThePageWithinASecond(t *testing.T) {
	kubeconfig := os.Getenv("PODPROOF_TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("PODPROOF_TEST_KUBECONFIG names no kubeconfig; it is set by make test")
	}
	c := config.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), Cluster: "existing", Kubeconfig: kubeconfig}
	a, err := app.New(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := app.Listen(t.Context(), c.Addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, l) }()
	t.Cleanup(func() {
		began := time.Now()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("an open page held the server up for %s", took)
		}
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(time.Minute); !a.Study.Cluster().Ready(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no cluster: %+v", a.Study.Cluster())
		}
	}

	ref := labs.Ref{Lab: "ckad-multi", Task: "native-sidecar"}
	if err := a.Study.Reset(t.Context(), study.Local, ref); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/labs/ckad-multi/tasks/native-sidecar/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-t.Context().Done():
				return
			}
		}
	}()
	await := func(what, part string, within time.Duration) {
		t.Helper()
		limit := time.After(within)
		for {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatalf("the stream ended before %s", what)
				}
				if strings.Contains(line, part) {
					return
				}
			case <-limit:
				t.Fatalf("not within %s: %s", within, what)
			}
		}
	}
	await("everything as it stands", "data: on", 30*time.Second)
	const graceHolds = `id="check-grace" class="check verdict-pass is-live"`
	seed, err := a.Study.Open(t.Context(), study.Local, ref)
	if err != nil {
		t.Fatal(err)
	}
	task, _ := a.Catalog.Task(ref)
	inst, err := task.InstanceOf(seed.Namespace, seed.Params)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Workspace.Apply(t.Context(), inst.Namespace, inst.Answer.Text); err != nil {
		t.Fatal(err)
	}
	await("the row holds", graceHolds, time.Second)
	if err := a.Study.Reset(t.Context(), study.Local, ref); err != nil {
		t.Fatal(err)
	}
	await("the row holds no more", `id="check-grace" class="check verdict-fail is-live"`, time.Second)
	v, err := a.Study.Open(t.Context(), study.Local, ref)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Attempts) != 0 {
		t.Errorf("%d attempts were stored without a grading", len(v.Attempts))
	}
}
