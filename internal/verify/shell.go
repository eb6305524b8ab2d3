package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/podproof/podproof/labs"
)

const (
	shellTime = 3 * time.Minute
	shellTail = 2 << 10 // bytes of output that an error shows
)

// makeFolder makes the run's folder: bin/kubectl, and a cache of the API's
// discovery that all shell answers share.
func (r *runner) makeFolder() error {
	folder, err := os.MkdirTemp("", "podproof-verify-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	r.folder = folder
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := os.Symlink(r.options.Kubectl, filepath.Join(folder, "bin", "kubectl")); err != nil {
		return fmt.Errorf("set up kubectl: %w", err)
	}
	return nil
}

// runShell runs a shell answer with the learner's rights in a fresh folder.
// The first result says how the script failed.
func (r *runner) runShell(ctx context.Context, namespace string, kubeconfig []byte, script labs.Script) (failed, err error) {
	folder := filepath.Join(r.folder, namespace)
	work := filepath.Join(folder, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, fmt.Errorf("run %s: %w", script.File, err)
	}
	config := filepath.Join(folder, "kubeconfig")
	file := filepath.Join(folder, filepath.Base(script.File))
	if err := errors.Join(os.WriteFile(config, kubeconfig, 0o600), os.WriteFile(file, []byte(script.Text), 0o600)); err != nil {
		return nil, fmt.Errorf("run %s: %w", script.File, err)
	}
	limited, cancel := context.WithTimeout(ctx, shellTime)
	defer cancel()
	cmd := exec.CommandContext(limited, "bash", "-eu", file)
	cmd.Dir = work
	cmd.Env = []string{
		"PATH=" + filepath.Join(r.folder, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + folder,
		"KUBECONFIG=" + config,
		"KUBECACHEDIR=" + filepath.Join(r.folder, "cache"),
		"NAMESPACE=" + namespace,
		"TERM=dumb",
		"LANG=C.UTF-8",
	}
	endWithChildren(cmd)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("run %s: %w", script.File, ctx.Err())
	case limited.Err() != nil:
		return fmt.Errorf("it still ran after %s: %s", shellTime, tail(out)), nil
	case errors.As(err, &exit):
		return fmt.Errorf("it ended with code %d: %s", exit.ExitCode(), tail(out)), nil
	}
	return nil, fmt.Errorf("run %s: %w", script.File, err)
}

func tail(out []byte) string {
	if len(out) > shellTail {
		out = out[len(out)-shellTail:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(out), "\uFFFD"))
}
