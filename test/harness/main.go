// Command harness runs a command with a cluster for tests. The cluster is
// chosen by PODPROOF_TEST_CLUSTER as the server chooses its own (auto, kind,
// existing or embedded); it is another one than the user's. The command finds
// an administrator's kubeconfig by PODPROOF_TEST_KUBECONFIG; where that is set
// already, it names the existing cluster to use.
//
//	harness COMMAND [ARGS...]
//	harness -choose           prints which kind of cluster it would be
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "harness:", err)
		code = 1
	}
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 {
		return 0, errors.New("name a command to run")
	}
	c, err := settings()
	if err != nil {
		return 0, err
	}
	if args[0] == "-choose" {
		name, err := app.Choose(ctx, c)
		if err != nil {
			return 0, err
		}
		_, err = fmt.Println(name) //nolint:forbidigo // a program's only output
		return 0, err
	}
	return withCluster(ctx, c, args)
}

// settings are podproof's own, with a data folder and a cluster name that are
// not the user's.
func settings() (config.Config, error) {
	flags := pflag.NewFlagSet("harness", pflag.ContinueOnError)
	bound := config.Bind(flags)
	args := []string{"--cluster-name=podproof-test"}
	if v := os.Getenv("PODPROOF_TEST_CLUSTER"); v != "" {
		args = append(args, "--cluster="+v)
	}
	if v := os.Getenv("PODPROOF_TEST_KUBECONFIG"); v != "" {
		args = append(args, "--kubeconfig="+v)
	}
	if err := flags.Parse(args); err != nil {
		return config.Config{}, err
	}
	c, err := bound.Load(os.Getenv)
	if err != nil {
		return config.Config{}, fmt.Errorf("settings:\n%w", err)
	}
	c.Data = filepath.Join(c.Data, "test")
	return c, nil
}

func withCluster(ctx context.Context, c config.Config, args []string) (code int, err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: c.LogLevel}))
	p, err := app.Provider(ctx, c, log)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, p.Close(stop))
	}()
	if err := p.Ensure(ctx, func(e cluster.Event) {
		log.InfoContext(ctx, "cluster", "step", e.Step, "text", e.Text, "done", e.Done, "after", time.Since(began).Round(time.Millisecond))
	}); err != nil {
		return 0, fmt.Errorf("start the %s cluster: %w", p.Name(), err)
	}
	kubeconfig, err := p.Kubeconfig(ctx)
	if err != nil {
		return 0, fmt.Errorf("kubeconfig: %w", err)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return 0, err
	}
	path := filepath.Join(c.Data, "admin.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "PODPROOF_TEST_KUBECONFIG="+path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 0, fmt.Errorf("run %s: %w", args[0], err)
	}
	return 0, nil
}
