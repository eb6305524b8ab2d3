package grader

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"
)

// Bounds of one evaluation.
const (
	// together is how many checks probe and try at one time.
	together = 4
	// firstPause and lastPause pace the looks of a waiting evaluation.
	firstPause = 300 * time.Millisecond
	lastPause  = time.Second
	// looks is how often in a row a snapshot may fail before grading gives up.
	looks = 3
)

// patience is how long a step is waited for where its check gives no time.
func patience(r Rank) time.Duration {
	switch r {
	case Declared:
		return 0
	case Reported:
		return 20 * time.Second
	default:
		return 15 * time.Second
	}
}

// scene is what a step sees: the snapshot, the subject found in it, and the
// means to ask the cluster.
type scene struct {
	*Snapshot
	obj     *object // nil for a check without a subject
	check   *check
	cluster *recorder
	nonce   string
	// since is when this evaluation first saw a state, by its name: it bridges
	// the whole seconds of the API's own times.
	since func(state string) time.Time
}

// fill puts the evaluation's fresh value into a text of a check.
func (s *scene) fill(text string) string { return strings.ReplaceAll(text, "{{nonce}}", s.nonce) }

// Evaluate grades the task. A failed check is data in the report; what could
// not be looked at has the verdict Error there. It returns soon after ctx ends.
func (p *Program) Evaluate(ctx context.Context, c Cluster, o Options) *Report {
	e := &evaluation{
		program: p,
		mode:    o.Mode,
		cluster: newRecorder(c),
		nonce:   o.Nonce,
		states:  make([]state, len(p.checks)),
		seen:    map[string]time.Time{},
		done:    make(chan outcome, len(p.checks)),
		slots:   make(chan struct{}, together),
	}
	if past, ok := c.(*replay); ok {
		e.still = true
		e.nonce = past.evidence.Nonce
	}
	if e.nonce == "" {
		e.nonce = drawNonce()
	}
	report := &Report{Task: p.task, Namespace: p.namespace, Started: time.Now()}
	e.run(ctx)
	for i := range e.states {
		report.Results = append(report.Results, result(&p.checks[i], e.states[i].finding))
	}
	report.Finished = time.Now()
	report.Evidence = e.cluster.evidence(e.snapshot, e.nonce)
	return report
}

func drawNonce() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

func result(c *check, f finding) Result {
	r := Result{
		Check: c.spec.ID, Verdict: f.Verdict, Points: c.spec.Points, Rank: f.Rank,
		Object: f.Object, Path: f.Path, Reason: f.Reason,
		Expected: f.Expected, Observed: f.Observed,
		Because: f.Because, Docs: f.Docs, Excerpt: f.Excerpt,
	}
	if f.Verdict == Pass {
		r.Earned = r.Points
	}
	if r.Object == "" && c.ref.name != "" {
		r.Object = c.ref.String()
	}
	return r
}

// evaluation is one run of Evaluate. Only its own goroutine touches states.
type evaluation struct {
	program  *Program
	mode     Mode
	cluster  *recorder
	nonce    string
	still    bool // the cluster is a record: waiting for it is vain
	snapshot *Snapshot
	states   []state
	seen     map[string]time.Time
	done     chan outcome
	slots    chan struct{}
	busy     int
}

// state is how far a check has come.
type state struct {
	finding finding // the last one
	decided bool
	busy    bool      // its acts run
	step    int       // the furthest step that was reached
	since   time.Time // when it was
}

// outcome is what a check's acts came to.
type outcome struct {
	check, step int
	finding     finding
	err         error
}

func (e *evaluation) run(ctx context.Context) {
	// Acts end with their contexts; an evaluation that returns leaves none behind.
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for e.busy > 0 {
			<-e.done
			e.busy--
		}
	}()
	pause, failures := firstPause, 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !e.allDecided() {
		select {
		case o := <-e.done:
			// What its acts came to may let a check that needs it begin at once. A
			// probe to be repeated waits for its turn.
			if e.take(o) {
				timer.Reset(0)
			}
			continue
		case <-ctx.Done():
		case <-timer.C:
		}
		if ctx.Err() == nil && e.idle() {
			snap, err := e.cluster.Snapshot(ctx, e.program.namespace, e.program.kinds)
			switch {
			case err == nil:
				failures = 0
				e.snapshot = snap
				e.look(ctx)
			case ctx.Err() == nil:
				failures++
				if failures >= looks || e.mode != Submit || e.still {
					e.giveUp(failed(err), false)
				}
			}
		}
		if ctx.Err() != nil {
			e.giveUp(fault(Msg("error.stopped")), true)
		}
		timer.Reset(pause)
		pause = min(pause*5/4, lastPause)
	}
}

// idle reports whether some check waits for the next look.
func (e *evaluation) idle() bool {
	for i := range e.states {
		if st := &e.states[i]; !st.decided && !st.busy {
			return true
		}
	}
	return false
}

func (e *evaluation) allDecided() bool {
	for i := range e.states {
		if !e.states[i].decided {
			return false
		}
	}
	return true
}

// look judges every undecided check by the snapshot. A check decided now may
// free one that needs it, so it goes on until nothing changes.
func (e *evaluation) look(ctx context.Context) {
	looked := make([]bool, len(e.states))
	for again := true; again; {
		again = false
		for i := range e.states {
			st := &e.states[i]
			if st.decided || st.busy || looked[i] {
				continue
			}
			wait, unmet := e.needs(i)
			if unmet != nil {
				e.decide(i, *unmet)
				again = true
				continue
			}
			if wait {
				continue
			}
			looked[i] = true
			e.check(ctx, i)
			again = again || st.decided
		}
	}
}

// needs reports whether a check must wait for another, or why it never passes.
func (e *evaluation) needs(i int) (wait bool, unmet *finding) {
	for _, j := range e.program.checks[i].needs {
		st := &e.states[j]
		if !st.decided {
			wait = true
			continue
		}
		var f finding
		id := e.program.checks[j].spec.ID
		switch st.finding.Verdict {
		case Pass:
			continue
		case Fail:
			f = fail(Msg("needs.failed", "check", id))
		case Pending:
			f = pending(Msg("needs.pending", "check", id))
		default:
			f = fault(Msg("needs.error", "check", id))
		}
		f = f.ranked(Declared)
		return false, &f
	}
	return wait, nil
}

// check takes one check as far as the snapshot goes and starts its acts.
func (e *evaluation) check(ctx context.Context, i int) {
	c := &e.program.checks[i]
	s := e.scene(c)
	if c.ref.name != "" {
		var f finding
		if s.obj, f = e.snapshot.subject(c.ref); s.obj == nil {
			e.settle(i, 0, s.missing(ctx, f))
			return
		}
	}
	f := finding{}
	for n := range c.steps {
		if c.steps[n].act != nil {
			e.act(ctx, i, n, s, f)
			return
		}
		f = c.steps[n].judge(s)
		if !f.ok() {
			e.settle(i, n, f)
			return
		}
	}
	e.decide(i, f)
}

func (e *evaluation) scene(c *check) *scene {
	return &scene{
		Snapshot: e.snapshot, check: c, cluster: e.cluster, nonce: e.nonce,
		since: func(state string) time.Time {
			t, ok := e.seen[state]
			if !ok {
				t = time.Now()
				e.seen[state] = t
			}
			return t
		},
	}
}

func (st *step) judge(s *scene) finding {
	f := st.look(s)
	if f.Rank == "" {
		f.Rank = st.rank
	}
	return f
}

// settle decides a check by a finding unless waiting may still change it.
func (e *evaluation) settle(i, n int, f finding) {
	st := &e.states[i]
	now := time.Now()
	if st.since.IsZero() || n > st.step {
		st.step, st.since = n, now
	}
	st.finding = f
	limit := e.limit(i, n, f)
	switch {
	case f.Verdict == Pass, f.settled, e.mode != Submit:
		e.decide(i, f)
	case e.still || now.Sub(st.since) >= limit:
		e.decide(i, e.timeUp(f, limit))
	}
}

// limit is how long a finding of step n is waited for.
func (e *evaluation) limit(i, n int, f finding) time.Duration {
	if n < len(e.program.checks[i].steps) {
		if st := &e.program.checks[i].steps[n]; st.within > 0 {
			return st.within
		}
	}
	if f.Verdict == Fail {
		return patience(f.Rank)
	}
	return patience(Reported)
}

// timeUp turns a wait that took longer than the check allows into a failure.
// What began a short while ago may still come: it stays pending.
func (e *evaluation) timeUp(f finding, limit time.Duration) finding {
	if f.Verdict != Pending {
		return f
	}
	if f.since.IsZero() || e.snapshot == nil || e.snapshot.Taken.Sub(f.since) < limit {
		return f
	}
	f.Verdict = Fail
	if f.Because == nil {
		f = f.why(Msg("wait.timeUp", "within", limit.String()))
	}
	return f
}

func (e *evaluation) decide(i int, f finding) {
	e.states[i].finding = f
	e.states[i].decided = true
}

// giveUp decides by f all that is undecided; checks whose acts run only if busy is true.
func (e *evaluation) giveUp(f finding, busy bool) {
	for i := range e.states {
		if st := &e.states[i]; !st.decided && (busy || !st.busy) {
			e.decide(i, f)
		}
	}
}
