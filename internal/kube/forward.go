package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/podproof/podproof/grader"
)

// dialPod opens one connection to a port of the Pod's loopback interface.
func (c *Client) dialPod(ctx context.Context, pod grader.PodRef, port int) (*podConn, error) {
	address := c.typed.CoreV1().RESTClient().Post().Resource("pods").
		Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	roundTripper, upgrader, err := spdy.RoundTripperFor(c.config)
	if err != nil {
		return nil, fmt.Errorf("port-forward: %w", err)
	}
	websocket, err := portforward.NewSPDYOverWebsocketDialer(address, c.config)
	if err != nil {
		return nil, fmt.Errorf("port-forward: %w", err)
	}
	dialer := portforward.NewFallbackDialer(websocket,
		spdy.NewDialer(upgrader, &http.Client{Transport: roundTripper}, http.MethodPost, address), needsSPDY)

	session, err := dial(ctx, dialer)
	if err != nil {
		return nil, err
	}
	conn, err := openPort(session, port)
	if err != nil {
		return nil, fmt.Errorf("port-forward: %w", errors.Join(err, session.Close()))
	}
	return conn, nil
}

// dial gives up when ctx ends; client-go's dialers know no context.
func dial(ctx context.Context, dialer httpstream.Dialer) (httpstream.Connection, error) {
	type answer struct {
		conn httpstream.Connection
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		done <- answer{conn, err}
	}()
	select {
	case a := <-done:
		return a.conn, a.err
	case <-ctx.Done():
		go func() {
			if a := <-done; a.err == nil {
				_ = a.conn.Close() // nobody waits for it any more
			}
		}()
		return nil, ctx.Err()
	}
}

// openPort opens the pair of streams that the port-forward protocol wants for
// a connection: one for the data, one for the kubelet's report of a failure.
func openPort(session httpstream.Connection, port int) (*podConn, error) {
	header := http.Header{}
	header.Set(corev1.StreamType, corev1.StreamTypeError)
	header.Set(corev1.PortHeader, strconv.Itoa(port))
	header.Set(corev1.PortForwardRequestIDHeader, "0")
	failure, err := session.CreateStream(header)
	if err != nil {
		return nil, fmt.Errorf("error stream: %w", err)
	}
	if err := failure.Close(); err != nil { // our half: we only read it
		return nil, fmt.Errorf("error stream: %w", err)
	}
	header.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := session.CreateStream(header)
	if err != nil {
		return nil, fmt.Errorf("data stream: %w", err)
	}
	c := &podConn{session: session, data: data, failure: make(chan string, 1), reported: make(chan struct{})}
	go func() {
		// The session may break off behind a report that has come whole.
		message, _ := io.ReadAll(io.LimitReader(failure, 4<<10))
		c.failure <- string(message)
		close(c.reported)
	}()
	return c, nil
}

// reportTime is how long the kubelet may take to say why a connection failed.
const reportTime = 5 * time.Second

// podConn is a connection to a port in a Pod.
type podConn struct {
	session httpstream.Connection
	data    httpstream.Stream
	failure chan string
	// reported is closed once the kubelet's report has been read to its end.
	reported chan struct{}
}

func (c *podConn) Read(p []byte) (int, error)  { return c.data.Read(p) }
func (c *podConn) Write(p []byte) (int, error) { return c.data.Write(p) }

// Close ends the connection. The session stays open for the kubelet's report:
// an HTTP client closes a connection as soon as it breaks off, which may be
// before the reason has come.
func (c *podConn) Close() error {
	err := c.data.Close()
	go func() {
		select {
		case <-c.reported:
		case <-time.After(reportTime):
		}
		_ = c.session.Close()
	}()
	return err
}

// The session is closed when its context ends; deadlines are not needed.

func (c *podConn) SetDeadline(time.Time) error      { return nil }
func (c *podConn) SetReadDeadline(time.Time) error  { return nil }
func (c *podConn) SetWriteDeadline(time.Time) error { return nil }
func (c *podConn) LocalAddr() net.Addr              { return podAddr{} }
func (c *podConn) RemoteAddr() net.Addr             { return podAddr{} }

// remoteError returns what the kubelet reported, "" where it reported nothing.
// The report comes, empty or not, after the data stream has ended.
func (c *podConn) remoteError(ctx context.Context) string {
	select {
	case m := <-c.failure:
		return m
	case <-ctx.Done():
		return ""
	case <-time.After(reportTime):
		return ""
	}
}

type podAddr struct{}

func (podAddr) Network() string { return "pod" }
func (podAddr) String() string  { return "pod" }
