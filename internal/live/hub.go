// Package live tells open pages to look again. A mark carries nothing, so that
// many are as good as one and a lost one is made up for by the next.
package live

import "sync"

// Hub passes marks to those who subscribed to a key. The zero value is ready;
// it is safe for concurrent use.
type Hub[K comparable] struct {
	mu     sync.Mutex
	closed bool
	subs   map[K]map[chan struct{}]struct{}
}

// Subscribe returns a channel that holds a mark whenever the key was marked
// since the last one was taken. It is closed by Close. The caller ends the
// subscription with stop, which may be called more than once.
func (h *Hub[K]) Subscribe(key K) (marks <-chan struct{}, stop func()) {
	sub := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(sub)
		return sub, func() {}
	}
	if h.subs == nil {
		h.subs = map[K]map[chan struct{}]struct{}{}
	}
	if h.subs[key] == nil {
		h.subs[key] = map[chan struct{}]struct{}{}
	}
	h.subs[key][sub] = struct{}{}
	return sub, func() { h.remove(key, sub) }
}

func (h *Hub[K]) remove(key K, sub chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subs[key], sub)
	if len(h.subs[key]) == 0 {
		delete(h.subs, key)
	}
}

// Mark marks a key. It waits for nobody: who has not taken the last mark yet
// will look anyway.
func (h *Hub[K]) Mark(key K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs[key] {
		select {
		case sub <- struct{}{}:
		default:
		}
	}
}

// Followed reports whether anyone subscribes to a key.
func (h *Hub[K]) Followed(key K) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subs[key]) > 0
}

// Close ends all subscriptions, and later ones at once.
func (h *Hub[K]) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	for _, subs := range h.subs {
		for sub := range subs {
			close(sub)
		}
	}
	h.subs = nil
}
