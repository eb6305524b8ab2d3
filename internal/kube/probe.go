package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/podproof/podproof/grader"
)

// Bounds of a probe where the caller sets none.
const (
	probeTime   = 30 * time.Second
	defaultLog  = 64 << 10
	outputBytes = 256 << 10 // of each of stdout, stderr, and a response's body
)

// Logs returns the newest part of a container's log. A container that has not
// started, or has no previous run, has written nothing: that is no error.
func (c *Client) Logs(ctx context.Context, pod grader.PodRef, container string, previous bool, most int) (string, error) {
	if most <= 0 {
		most = defaultLog
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	op := fmt.Sprintf("read the log of %s in Pod %s/%s", container, pod.Namespace, pod.Name)

	// LimitBytes cuts off the end, which is the part that is wanted; so the
	// lines are bounded here and the bytes by the ring.
	lines := int64(most/16 + 1)
	stream, err := c.typed.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: container, Previous: previous, TailLines: &lines,
	}).Stream(ctx)
	if err != nil {
		if apierrors.IsBadRequest(err) && nothingLogged(err.Error()) {
			return "", nil
		}
		return "", classify(op, err)
	}
	defer func() { _ = stream.Close() }() // read-only
	tail := &ring{max: most}
	if _, err := io.Copy(tail, stream); err != nil {
		return "", classify(op, err)
	}
	return tail.String(), nil
}

// nothingLogged knows the answers of API server and kubelet for a container
// that has no log yet.
func nothingLogged(message string) bool {
	return strings.Contains(message, "is waiting to start") ||
		strings.Contains(message, "previous terminated container") ||
		strings.Contains(message, "is not available")
}

// ring keeps the last max bytes, from the start of a line where it had to cut.
type ring struct {
	max int
	buf []byte
	cut bool
}

func (r *ring) Write(p []byte) (int, error) {
	r.buf = append(r.buf, p...)
	if len(r.buf) > 2*r.max {
		r.buf = append(r.buf[:0], r.buf[len(r.buf)-r.max:]...)
		r.cut = true
	}
	return len(p), nil
}

func (r *ring) String() string {
	b := r.buf
	if len(b) > r.max {
		b, r.cut = b[len(b)-r.max:], true
	}
	if r.cut {
		if i := strings.IndexByte(string(b), '\n'); i >= 0 && i+1 < len(b) {
			b = b[i+1:]
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// head keeps the first max bytes and drops the rest.
type head struct {
	max int
	buf strings.Builder
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.max - h.buf.Len(); room > 0 {
		h.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (h *head) String() string { return strings.ToValidUTF8(h.buf.String(), "\uFFFD") }

// Exec runs a command and waits for it. Output beyond 256 KiB is dropped.
func (c *Client) Exec(ctx context.Context, pod grader.PodRef, container string, command []string) (grader.ExecResult, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	op := fmt.Sprintf("run %s in %s of Pod %s/%s", command[0], container, pod.Namespace, pod.Name)

	url := c.typed.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).
		SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: container, Command: command, Stdout: true, Stderr: true,
	}, scheme.ParameterCodec).URL()
	websocket, err := remotecommand.NewWebSocketExecutor(c.config, "GET", url.String())
	if err != nil {
		return grader.ExecResult{}, classify(op, err)
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.config, "POST", url)
	if err != nil {
		return grader.ExecResult{}, classify(op, err)
	}
	executor, err := remotecommand.NewFallbackExecutor(websocket, spdy, needsSPDY)
	if err != nil {
		return grader.ExecResult{}, classify(op, err)
	}
	stdout, stderr := &head{max: outputBytes}, &head{max: outputBytes}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: stdout, Stderr: stderr})
	result := grader.ExecResult{Stdout: stdout.String(), Stderr: stderr.String()}
	var exit utilexec.ExitError
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, classify(op, ctx.Err())
	case noProgram(err.Error()):
		return result, fmt.Errorf("%s: %w", op, grader.ErrNoShell)
	case errors.As(err, &exit) && exit.Exited():
		result.Code = exit.ExitStatus()
		return result, nil
	}
	return result, classify(op, err)
}

// needsSPDY tells that the server, or a proxy before it, speaks no WebSocket.
func needsSPDY(err error) bool {
	return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
}

// noProgram knows what container runtimes say when the command does not exist
// in the container. It is the runtime's own error, not a program's output.
func noProgram(message string) bool {
	return strings.Contains(message, "exec failed") &&
		(strings.Contains(message, "executable file not found") ||
			strings.Contains(message, "no such file or directory") ||
			strings.Contains(message, "permission denied"))
}
