package kube

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// clock is a RoundTripper that notes the server's time for requests whose
// context asks for it. Clients of client-go show no response headers.
type clock struct{ next http.RoundTripper }

type clockKey struct{}

// reading collects the earliest time that a server told.
type reading struct {
	mu   sync.Mutex
	time time.Time
}

func withReading(ctx context.Context) (context.Context, *reading) {
	r := new(reading)
	return context.WithValue(ctx, clockKey{}, r), r
}

func (c clock) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil || resp == nil {
		return resp, err
	}
	if r, ok := req.Context().Value(clockKey{}).(*reading); ok {
		if t, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			r.note(t, time.Now())
		}
	}
	return resp, nil
}

// WrappedRoundTripper lets client-go find the transport below.
func (c clock) WrappedRoundTripper() http.RoundTripper { return c.next }

// note keeps the earliest reading. The header has whole seconds: where the
// local clock agrees with it to the second, the local one is more precise.
func (r *reading) note(server, local time.Time) {
	const tolerance = 250 * time.Millisecond // a slow answer is no skew
	at := server
	if d := local.Sub(server); d > -tolerance && d < time.Second+tolerance {
		at = local
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.time.IsZero() || at.Before(r.time) {
		r.time = at.UTC()
	}
}

// now returns what was read, or the local time where nothing was.
func (r *reading) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.time.IsZero() {
		return time.Now().UTC()
	}
	return r.time
}
