package sqlite

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/podproof/podproof/grader"
)

const (
	// flushEvery is how long a change may wait before it is written, so that
	// many are written at once.
	flushEvery = 250 * time.Millisecond
	// renewEvery is how often the writer says that it still watches; one that
	// has said nothing for staleAfter has died.
	renewEvery = 5 * time.Second
	staleAfter = 15 * time.Second
	// forgetAfter is how long the history of a cluster that nobody watches is kept.
	forgetAfter = 30 * 24 * time.Hour
	// maxWaiting bounds what waits to be written or for this process's turn.
	maxWaiting = 20000
)

// History keeps what changed in one cluster. Several processes may watch the
// same cluster: one of them writes, the others read what it wrote and take
// over when it ends, from where it ended. It is safe for concurrent use.
//
// Record never waits for the disk: Run writes behind it.
type History struct {
	store   *Store
	cluster string
	max     int
	owner   string
	stale   time.Duration

	reading sync.Mutex // one catching up at a time

	mu         sync.Mutex
	writer     bool // this process is the one that writes
	namespaces map[string]*past
	blind      []grader.Span
	lastChange int64 // read from the database up to here
	lastBlind  int64
	waiting    []entry       // to be written
	unseen     []grader.Span // to be written
	began      time.Time     // since when waiting is complete
	renewed    time.Time
}

// entry is a change of a namespace.
type entry struct {
	namespace string
	grader.Change
}

// History returns the history of the cluster with this identity, bounded to
// the newest max changes of each namespace.
func (s *Store) History(cluster string, max int) *History {
	return &History{
		store: s, cluster: cluster, max: max, stale: staleAfter,
		owner:      strconv.FormatUint(rand.Uint64(), 36),
		namespaces: map[string]*past{},
	}
}

// Record implements the recorder's port. What is known already, as after a
// restart, is passed over.
func (h *History) Record(_ context.Context, namespace string, changes []grader.Change) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range changes {
		c = rounded(c)
		if h.writer && !h.past(namespace).add(c, h.max) {
			continue
		}
		h.waiting = append(h.waiting, entry{namespace, c})
	}
	if over := len(h.waiting) - maxWaiting; over > 0 {
		h.lose(over)
	}
	return nil
}

// lose drops the oldest changes that wait. A writer has to say so; for another
// process it means that its own knowledge begins later.
func (h *History) lose(n int) {
	lost := h.waiting[:n]
	if h.writer {
		h.addBlind(grader.Span{From: lost[0].Seen, Until: lost[n-1].Seen})
	} else {
		h.began = lost[n-1].Seen
	}
	h.waiting = slices.Clone(h.waiting[n:])
}

// Blind implements the recorder's port. One watch serves all namespaces, so a
// span is kept once for all.
func (h *History) Blind(_ context.Context, _ string, span grader.Span) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addBlind(span)
	return nil
}

// addBlind keeps a span, unless one that is kept covers it.
func (h *History) addBlind(span grader.Span) {
	span = grader.Span{From: milli(span.From), Until: milli(span.Until)}
	covers := func(s grader.Span) bool { return !s.From.After(span.From) && !s.Until.Before(span.Until) }
	if slices.ContainsFunc(h.blind, covers) || slices.ContainsFunc(h.unseen, covers) {
		return
	}
	h.unseen = append(h.unseen, span)
	if h.writer {
		h.blind = newest(append(h.blind, span), h.max)
	}
}

// History implements the recorder's port. The caller does not change what it
// gets.
func (h *History) History(ctx context.Context, namespace string) ([]grader.Change, []grader.Span, error) {
	if err := h.catchUp(ctx); err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// Both only ever grow at their ends or are replaced.
	return slices.Clip(h.past(namespace).changes), slices.Clip(h.blind), nil
}

// Alive implements the recorder's port.
func (h *History) Alive(ctx context.Context, kind string) (map[string][]grader.Change, error) {
	if err := h.catchUp(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	alive := map[string][]grader.Change{}
	for namespace, p := range h.namespaces {
		if left := p.alive(kind); len(left) > 0 {
			alive[namespace] = left
		}
	}
	return alive, nil
}

func (h *History) past(namespace string) *past {
	p := h.namespaces[namespace]
	if p == nil {
		p = newPast(nil)
		h.namespaces[namespace] = p
	}
	return p
}

// Run writes what is recorded until ctx ends; then it writes the rest and
// lets another process write. It is called once, when the recorder has seen everything
// once. sight tells until when the recorder has surely seen everything.
func (h *History) Run(ctx context.Context, sight func() time.Time, log *slog.Logger) {
	h.mu.Lock()
	h.began = milli(time.Now())
	h.mu.Unlock()
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	failing := false
	for {
		last := ctx.Err() != nil
		err := h.write(context.WithoutCancel(ctx), time.Now(), sight(), last)
		if err != nil && !failing {
			log.ErrorContext(ctx, "the history of the cluster could not be written; it is tried again", "error", err)
		}
		failing = err != nil
		if last {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// forget makes what is known come from the database again.
func (h *History) forget() {
	h.writer = false
	h.namespaces, h.blind = map[string]*past{}, nil
	h.lastChange, h.lastBlind = 0, 0
}

func rounded(c grader.Change) grader.Change {
	c.Seen = milli(c.Seen)
	if c.At != nil {
		at := milli(*c.At)
		c.At = &at
	}
	return c
}

func milli(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
