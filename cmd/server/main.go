// Command podproof is a practice lab for the CKAD exam that proves answers on
// a real Kubernetes cluster. Called by the name kubectl it is kubectl.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/podproof/podproof/internal/config"
)

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

func run(args []string, out, errOut io.Writer) int {
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "kubectl" {
		return runKubectl(args[1:], os.Stdin, out, errOut)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)

	root := newRoot()
	root.SetArgs(args[1:])
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var code exitCode
	var told *toldError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &told):
		_, _ = fmt.Fprintln(errOut, "podproof:", err)
		return int(told.exit)
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(errOut, "podproof: stopped")
		return 130
	default:
		_, _ = fmt.Fprintln(errOut, "podproof:", err)
		return 2
	}
}

// exitCode is an error for which everything has been said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// program is what the verbs share.
type program struct {
	flags *config.Flags
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "podproof",
		Short:         "A practice lab for the CKAD exam that proves answers on a real Kubernetes cluster",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	p := &program{flags: config.Bind(root.PersistentFlags())}
	root.AddCommand(
		p.serve(), p.start(), p.check(), p.lint(), p.verify(), p.regrade(), p.kubeconfig(), p.down(), p.kubectl(),
		schema(), showVersion(), p.internal(),
	)
	return root
}

// config reads the flags and makes the logger, which writes to errOut. What
// client-go logs goes there too.
func (p *program) config(errOut io.Writer) (config.Config, *slog.Logger, error) {
	c, err := p.flags.Load(os.Getenv)
	if err != nil {
		return config.Config{}, nil, fmt.Errorf("settings:\n%w", err)
	}
	handler := slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: c.LogLevel})
	klog.SetSlogLogger(slog.New(atDebug{handler}).With("source", "client-go"))
	return c, slog.New(handler), nil
}
