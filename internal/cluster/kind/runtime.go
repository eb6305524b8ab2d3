package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"
)

// Runtime is the program that runs the node containers.
type Runtime string

// The runtimes that kind drives, in the order in which they are looked for.
const (
	Docker  Runtime = "docker"
	Podman  Runtime = "podman"
	Nerdctl Runtime = "nerdctl"
)

// Reason is why a runtime can't be used.
type Reason string

// The reasons.
const (
	NotInstalled Reason = "not installed"
	NotRunning   Reason = "not running"
	NoPermission Reason = "no permission"
	Unusable     Reason = "not usable"
)

// UnavailableError tells why a runtime can't be used and what to do about it.
type UnavailableError struct {
	Runtime Runtime
	Reason  Reason
	Detail  string // the runtime's own words, one line; may be empty
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("%s is %s", e.Runtime, e.Reason)
	if e.Reason == NoPermission {
		text = fmt.Sprintf("no permission to use %s", e.Runtime)
	}
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text + ": " + e.Remedy()
}

// Remedy says in English what to do.
func (e *UnavailableError) Remedy() string {
	switch e.Reason {
	case NotInstalled:
		return map[Runtime]string{
			Docker:  "install Docker Engine or Docker Desktop (https://docs.docker.com/get-started/get-docker/)",
			Podman:  "install Podman (https://podman.io/docs/installation)",
			Nerdctl: "install nerdctl (https://github.com/containerd/nerdctl)",
		}[e.Runtime]
	case NotRunning:
		return map[Runtime]string{
			Docker:  "start Docker Desktop, or the service with: sudo systemctl start docker; if DOCKER_HOST or a docker context is set, see that it names a running daemon",
			Podman:  "start it with: podman machine start; on Linux see that `podman info` works",
			Nerdctl: "start containerd with: sudo systemctl start containerd; without root: containerd-rootless-setuptool.sh install",
		}[e.Runtime]
	case NoPermission:
		return map[Runtime]string{
			Docker:  "add yourself to its group with: sudo usermod -aG docker $USER, then log in again; or use rootless Docker",
			Podman:  "see that `podman info` works for this user",
			Nerdctl: "run podproof as root or set up rootless containerd: containerd-rootless-setuptool.sh install",
		}[e.Runtime]
	default:
		return fmt.Sprintf("see that `%s info` works", e.Runtime)
	}
}

// Detect finds the first runtime that answers. If none does, the error joins
// one *UnavailableError for each.
func Detect(ctx context.Context) (Runtime, error) {
	errs := []error{errors.New("no container runtime for kind")}
	for _, rt := range []Runtime{Docker, Podman, Nerdctl} {
		_, err := open(ctx, rt)
		if err == nil {
			return rt, nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// cli runs the runtime's own command-line program, as kind does: so both
// honour the same settings, DOCKER_HOST and contexts among them.
type cli struct {
	runtime Runtime
}

// pingTimeout is long enough for a remote daemon and short enough to tell a
// hung one.
const pingTimeout = 15 * time.Second

// open returns the runtime's client once the runtime has answered.
func open(ctx context.Context, rt Runtime) (*cli, error) {
	c := &cli{runtime: rt}
	if _, err := exec.LookPath(string(rt)); err != nil {
		return nil, &UnavailableError{Runtime: rt, Reason: NotInstalled}
	}
	if err := c.ping(ctx); err != nil {
		return nil, err
	}
	if rt == Docker {
		// kind takes the two apart: it drives each with options of its own.
		if out, err := c.run(ctx, "--version"); err == nil && strings.HasPrefix(strings.ToLower(out), "podman") {
			return nil, &UnavailableError{Runtime: rt, Reason: Unusable, Detail: "the docker command here is Podman's"}
		}
	}
	return c, nil
}

// ping asks what only a running daemon knows. It is not "info", with which some
// releases of Docker's client succeed although the daemon does not answer.
func (c *cli) ping(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	out, err := c.run(limited, "ps", "--quiet")
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return &UnavailableError{Runtime: c.runtime, Reason: NotRunning, Detail: fmt.Sprintf("no answer within %s", pingTimeout)}
	}
	return classify(c.runtime, words(err, out))
}

// classify reads a runtime's complaint.
func classify(rt Runtime, complaint string) *UnavailableError {
	e := &UnavailableError{Runtime: rt, Reason: Unusable, Detail: firstLine(complaint)}
	low := strings.ToLower(complaint)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(low, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("permission denied", "access is denied", "operation not permitted"):
		e.Reason = NoPermission
	case has("cannot connect to", "is the docker daemon running", "connection refused", "no such file or directory",
		"error during connect", "no such host", "i/o timeout", "cannot access containerd socket",
		"rootless containerd not running", "the system cannot find the file specified", "connection reset", "eof"):
		e.Reason = NotRunning
	}
	return e
}

func (c *cli) option() cluster.ProviderOption {
	switch c.runtime {
	case Podman:
		return cluster.ProviderWithPodman()
	case Nerdctl:
		return cluster.ProviderWithNerdctl(string(Nerdctl))
	default:
		return cluster.ProviderWithDocker()
	}
}

// run returns the standard output; the error holds the standard error.
func (c *cli) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, string(c.runtime), args...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return stdout.String(), &commandError{command: string(c.runtime) + " " + args[0], stderr: stderr.String(), err: err}
	}
	return stdout.String(), nil
}

type commandError struct {
	command, stderr string
	err             error
}

func (e *commandError) Error() string {
	if line := firstLine(e.stderr); line != "" {
		return e.command + ": " + line
	}
	return e.command + ": " + e.err.Error()
}

func (e *commandError) Unwrap() error { return e.err }

// words are what a runtime said on failing, wherever it said it.
func words(err error, stdout string) string {
	if ce := (*commandError)(nil); errors.As(err, &ce) && strings.TrimSpace(ce.stderr) != "" {
		return ce.stderr
	}
	if strings.TrimSpace(stdout) != "" {
		return stdout
	}
	return err.Error()
}

// explain adds to an error of kind's what the failed command printed, which
// kind leaves out of its text.
func explain(err error) error {
	failed := kindexec.RunErrorForError(err)
	if failed == nil {
		return err
	}
	return &commandError{command: err.Error(), stderr: lastLines(string(failed.Output), 5), err: err}
}

func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
