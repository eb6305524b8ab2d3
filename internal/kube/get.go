package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/podproof/podproof/grader"
)

// Get asks for an HTTP URL from inside the Pod's network namespace and
// follows no redirect. The Pod's own addresses are reached through the
// kubelet's port-forward, which needs no program in the container; any other
// host needs the Pod's DNS and routes, so a program of the container asks.
func (c *Client) Get(ctx context.Context, pod grader.PodRef, container, address string) (grader.GetResult, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return grader.GetResult{}, fmt.Errorf("get %q: it is no URL", address)
	}
	if u.Scheme == "http" && isLoopback(u.Hostname()) {
		return c.getForwarded(ctx, pod, u)
	}
	return c.getByProgram(ctx, pod, container, u)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c *Client) getForwarded(ctx context.Context, pod grader.PodRef, u *url.URL) (grader.GetResult, error) {
	op := fmt.Sprintf("get %s in Pod %s/%s", u, pod.Namespace, pod.Name)
	port := 80
	if p := u.Port(); p != "" {
		var err error
		if port, err = strconv.Atoi(p); err != nil {
			return grader.GetResult{}, fmt.Errorf("%s: %w", op, err)
		}
	}
	tunnel, err := c.dialPod(ctx, pod, port)
	if err != nil {
		return grader.GetResult{}, classify(op, err)
	}
	defer func() { _ = tunnel.Close() }() // the request is over

	client := &http.Client{
		Transport: &http.Transport{
			DialContext:       func(context.Context, string, string) (net.Conn, error) { return tunnel, nil },
			DisableKeepAlives: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return grader.GetResult{}, fmt.Errorf("%s: %w", op, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return c.forwardFailure(ctx, op, tunnel, err)
	}
	defer func() { _ = resp.Body.Close() }() // read-only
	body := &head{max: outputBytes}
	if _, err := io.Copy(body, io.LimitReader(resp.Body, outputBytes)); err != nil {
		return c.forwardFailure(ctx, op, tunnel, err)
	}
	return grader.GetResult{Status: resp.StatusCode, Body: body.String()}, nil
}

// forwardFailure tells a connection that the Pod refused or broke off, which
// is an answer, from one that was never tried.
func (c *Client) forwardFailure(ctx context.Context, op string, tunnel *podConn, err error) (grader.GetResult, error) {
	if remote := tunnel.remoteError(ctx); remote != "" {
		return grader.GetResult{Failed: connectFailure(remote)}, nil
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return grader.GetResult{}, classify(op, ctx.Err())
		}
		// The connection was taken and nobody answered: the server's fault.
		return grader.GetResult{Failed: "no answer in time"}, nil
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return grader.GetResult{Failed: "the connection was closed without an answer"}, nil
	}
	return grader.GetResult{Failed: err.Error()}, nil
}

// connectFailure shortens the runtime's report to what happened.
func connectFailure(message string) string {
	for _, known := range []string{"connection refused", "i/o timeout", "no route to host", "connection reset by peer"} {
		if strings.Contains(message, known) {
			return known
		}
	}
	return message
}

// fetch asks with whatever the container has: curl prints the body, a line
// break and the status; wget the body, and the status with the response's
// header to stderr. The address comes as an argument, never as shell text.
// wget's own -T crashes in some builds of busybox, so timeout bounds it.
const fetch = `
if command -v curl >/dev/null 2>&1; then
  exec curl -gsS -m 10 -w '\n%{http_code}' -- "$1"
fi
if command -v wget >/dev/null 2>&1; then w=wget
elif command -v busybox >/dev/null 2>&1; then w='busybox wget'
else exit 127
fi
# Not wget's own -T: a static busybox that resolves a name under it crashes.
if command -v timeout >/dev/null 2>&1; then w="timeout 10 $w"; fi
$w -S -O - "$1"
`

func (c *Client) getByProgram(ctx context.Context, pod grader.PodRef, container string, u *url.URL) (grader.GetResult, error) {
	op := fmt.Sprintf("get %s from %s of Pod %s/%s", u, container, pod.Namespace, pod.Name)
	out, err := c.Exec(ctx, pod, container, []string{"sh", "-c", fetch, "sh", u.String()})
	if err != nil {
		return grader.GetResult{}, fmt.Errorf("%s: %w", op, err)
	}
	if out.Code == 127 {
		return grader.GetResult{}, fmt.Errorf("%s: %w", op, grader.ErrNoShell)
	}
	return fetched(out), nil
}

// fetched reads the output of fetch, from curl or from a wget.
func fetched(out grader.ExecResult) grader.GetResult {
	// wget prints the response's header to stderr: the last status counts,
	// since it follows redirects.
	status := 0
	for line := range strings.Lines(out.Stderr) {
		if _, rest, ok := strings.Cut(line, "HTTP/1."); ok && len(rest) >= 5 {
			if code, err := strconv.Atoi(rest[2:5]); err == nil {
				status = code
			}
		}
	}
	if status > 0 {
		return grader.GetResult{Status: status, Body: out.Stdout}
	}
	if i := strings.LastIndexByte(out.Stdout, '\n'); i >= 0 && out.Code == 0 {
		if code, err := strconv.Atoi(out.Stdout[i+1:]); err == nil {
			return grader.GetResult{Status: code, Body: out.Stdout[:i]}
		}
	}
	failed := strings.TrimSpace(out.Stderr)
	if failed == "" {
		failed = fmt.Sprintf("the HTTP client ended with code %d", out.Code)
	}
	return grader.GetResult{Failed: failed}
}
