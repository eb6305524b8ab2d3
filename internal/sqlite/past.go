package sqlite

import (
	"slices"
	"strings"

	"github.com/podproof/podproof/grader"
)

// past is what is known of one namespace, and how to tell whether a change is
// news: a recorder that starts anew reports the present once more.
type past struct {
	changes []grader.Change
	told    map[fact]bool  // those that have the API's own time
	last    map[track]fact // the newest of each track
}

// fact is a change without the time of its sight.
type fact struct {
	uid, container, state, reason string
	exit                          int32
	exited                        bool
	restarts                      int32
	at                            int64
}

// track is a part of an object whose states follow one another.
type track struct{ uid, container, part string }

func newPast(changes []grader.Change) *past {
	p := &past{changes: changes, told: map[fact]bool{}, last: map[track]fact{}}
	for i := range changes {
		p.learn(&changes[i])
	}
	return p
}

func (p *past) learn(c *grader.Change) {
	f := factOf(c)
	if c.At != nil {
		p.told[f] = true
	}
	p.last[trackOf(c)] = f
}

// add keeps a change and at most twice max of them; it reports whether the
// change is news.
func (p *past) add(c grader.Change, max int) bool {
	f := factOf(&c)
	if p.told[f] || p.last[trackOf(&c)] == f {
		return false
	}
	p.changes = append(p.changes, c)
	if len(p.changes) > 2*max {
		*p = *newPast(newest(p.changes, max))
		return true
	}
	p.learn(&c)
	return true
}

// alive returns the last change of each object of a kind that has no end yet.
func (p *past) alive(kind string) []grader.Change {
	last := map[string]grader.Change{}
	for _, c := range p.changes {
		switch {
		case c.State == "event" || !strings.HasPrefix(c.Object, kind+"/"):
		case c.State == "deleted":
			delete(last, c.UID)
		default:
			last[c.UID] = c
		}
	}
	out := make([]grader.Change, 0, len(last))
	for _, c := range last {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b grader.Change) int { return strings.Compare(a.UID, b.UID) })
	return out
}

// newest returns the last max elements as a slice of its own, or s itself
// where it is not longer.
func newest[T any](s []T, max int) []T {
	if len(s) <= max {
		return s
	}
	return slices.Clone(s[len(s)-max:])
}

func factOf(c *grader.Change) fact {
	f := fact{uid: c.UID, container: c.Container, state: c.State, reason: c.Reason, restarts: c.Restarts}
	if c.ExitCode != nil {
		f.exit, f.exited = *c.ExitCode, true
	}
	if c.At != nil {
		f.at = c.At.UnixMilli()
	}
	return f
}

func trackOf(c *grader.Change) track {
	part := strings.TrimPrefix(c.State, "Not") // a condition, either way
	switch c.State {
	case "event":
		part = "event " + c.Reason
	case "waiting", "running", "terminated":
		part = "run"
	case "ready", "unready":
		part = "ready"
	case "Pending", "Running", "Succeeded", "Failed", "Unknown":
		part = "phase"
	}
	return track{c.UID, c.Container, part}
}
