package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/cluster"
)

const startLimit = 3 * time.Minute

// measureRun does what a newcomer does, `make run`, with a new data folder,
// and measures what it comes to.
func measureRun(ctx context.Context, e *env) (figures map[string]float64, err error) {
	dir, err := os.MkdirTemp("", "podproof-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := e.config
	c.Data, c.ClusterName = dir, "podproof-bench"
	if c.Addr, err = freeAddr(ctx); err != nil {
		return nil, err
	}
	if e.choice != "existing" {
		defer func() {
			err = errors.Join(err, app.Down(context.WithoutCancel(ctx), c, e.log, func(cluster.Event) {}))
		}()
	}

	began := time.Now()
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "run")
	cmd.Env = append(os.Environ(), "PODPROOF_DATA="+c.Data, "PODPROOF_ADDR="+c.Addr, "PODPROOF_CLUSTER_NAME="+c.ClusterName)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// A group of its own, so that a signal reaches podproof and not only make.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("make run: %w", err)
	}
	defer func() {
		_ = cmd.Cancel() // it may have ended already
		_ = cmd.Wait()   // a signal is how it is meant to end
	}()

	figures = map[string]float64{}
	page := "http://" + c.Addr + "/"
	if err := until(ctx, func() bool { return answers(ctx, page) }); err != nil {
		return nil, fmt.Errorf("first page: %w", err)
	}
	figures["run.page"] = time.Since(began).Seconds()
	// The learner's kubeconfig is the last thing to be written.
	if err := until(ctx, func() bool {
		_, err := os.Stat(app.Kubeconfig(c))
		return err == nil && answers(ctx, page)
	}); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	figures["run.ready"] = time.Since(began).Seconds()

	if err := app.WithAdmin(ctx, c, e.log, func(cluster.Event) {}, func(admin *rest.Config) error {
		ms, err := gradeLive(ctx, admin)
		figures["grade.live.median"] = ms
		return err
	}); err != nil {
		return figures, fmt.Errorf("grade: %w", err)
	}
	for range 50 {
		answers(ctx, page+"labs/ckad-multi/tasks/native-sidecar/")
	}
	return figures, memory(figures, e.choice == "embedded", cmd.Process.Pid)
}

func freeAddr(ctx context.Context) (string, error) {
	l, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return "", errors.Join(fmt.Errorf("%v is no TCP address", l.Addr()), l.Close())
	}
	return addr.String(), l.Close()
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// until asks again and again whether something holds.
func until(ctx context.Context, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
