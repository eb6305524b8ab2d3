package study

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/live"
	"github.com/podproof/podproof/labs"
)

// LiveState tells whether the cluster is seen as it changes.
type LiveState string

// The states. LiveOff is a task that waits for its start, or for a cluster
// that comes up.
const (
	LiveOff  LiveState = ""
	LiveOn   LiveState = "on"
	LiveAway LiveState = "away"
)

// LiveView is how a task stands on the cluster now, by what is declared and
// reported. It is no attempt: nothing of it is stored.
type LiveView struct {
	State LiveState
	// Report is nil unless State is LiveOn.
	Report *grader.Report
}

// settle is how long changes are gathered before tasks are looked at again:
// one kubectl apply makes several.
const settle = 20 * time.Millisecond

// againAfter is how soon a task is looked at again while time alone may decide
// one of its checks: "Ready for 3 s" comes with no event.
const againAfter = time.Second

// watching is what the service keeps of tasks that pages have open.
type watching struct {
	hub live.Hub[taskKey]
	// wake holds a token while tasks wait to be looked at again.
	wake chan struct{}

	mu    sync.Mutex
	tasks map[taskKey]*followed
}

// followed is a task that at least one page has open.
type followed struct {
	pages   int
	inst    *labs.Instance
	program *grader.Program
	dirty   bool
	view    *LiveView // nil before the first look
}

func newWatching() *watching {
	return &watching{wake: make(chan struct{}, 1), tasks: map[taskKey]*followed{}}
}

// Follow tells a page that has the task open when to look again, until stop is
// called. The channel is closed when the server ends. Marks are level-triggered:
// Open has the whole state.
func (s *Service) Follow(ctx context.Context, learner Learner, ref labs.Ref) (marks <-chan struct{}, stop func(), err error) {
	_, inst, _, err := s.load(ctx, learner, ref)
	if err != nil {
		return nil, nil, err
	}
	key, w := taskKey{learner, ref}, s.watching
	marks, leave := w.hub.Subscribe(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[key]
	if t == nil {
		program, err := grader.Compile(inst)
		if err != nil {
			leave()
			return nil, nil, err
		}
		t = &followed{inst: inst, program: program, dirty: true}
		w.tasks[key] = t
		w.awake()
	}
	t.pages++
	return marks, sync.OnceFunc(func() {
		leave()
		w.mu.Lock()
		defer w.mu.Unlock()
		if t.pages--; t.pages == 0 {
			delete(w.tasks, key)
		}
	}), nil
}

// Changed says that objects of a kind have changed in a namespace; empty, each
// stands for all. It never waits. Only tasks that a page has open and whose
// checks mention the kind are looked at again.
func (s *Service) Changed(namespace string, kind grader.Kind) {
	w := s.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tasks {
		if (namespace == "" || namespace == t.inst.Namespace) && (kind == "" || t.program.Mentions(kind)) {
			t.dirty = true
			w.awake()
		}
	}
}

func (w *watching) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// RunLive looks again at what has changed, until ctx ends; then it ends every
// Follow. Without it, nothing is live.
func (s *Service) RunLive(ctx context.Context) {
	w := s.watching
	defer w.hub.Close()
	clock := time.NewTicker(againAfter)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
			if !w.timeTells() {
				continue
			}
		case <-w.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settle):
		}
		for key, t := range w.takeDirty() {
			view := s.look(ctx, t.program)
			if ctx.Err() == nil && w.keep(t, view) {
				w.hub.Mark(key)
			}
		}
	}
}

// timeTells makes tasks dirty that wait for time to pass.
func (w *watching) timeTells() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	some := false
	for _, t := range w.tasks {
		if t.view != nil && t.view.Report != nil && slices.ContainsFunc(t.view.Report.Results, grader.Result.Waits) {
			t.dirty, some = true, true
		}
	}
	return some
}

func (w *watching) takeDirty() map[taskKey]*followed {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[taskKey]*followed{}
	for key, t := range w.tasks {
		if t.dirty {
			t.dirty = false
			out[key] = t
		}
	}
	return out
}

// keep stores what was seen and reports whether that is anything new.
func (w *watching) keep(t *followed, view *LiveView) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := t.view
	t.view = view
	switch {
	case last == nil || last.State != view.State:
		return true
	case view.Report == nil:
		return false
	}
	return !reflect.DeepEqual(last.Report.Results, view.Report.Results)
}

// look evaluates what can be seen without asking the cluster.
func (s *Service) look(ctx context.Context, program *grader.Program) *LiveView {
	cluster, err := s.workspace.Watched()
	if err != nil {
		return &LiveView{State: LiveAway}
	}
	report := program.Evaluate(ctx, cluster, grader.Options{Mode: grader.Live})
	report.Evidence = nil // large, and nobody asks for it
	return &LiveView{State: LiveOn, Report: report}
}

// liveView is how a task stands now: as last seen where pages follow it, else
// by a look of its own.
func (s *Service) liveView(ctx context.Context, learner Learner, inst *labs.Instance, started bool) (LiveView, error) {
	if inst.Setup != "" && !started || !s.workspace.State().Ready() {
		return LiveView{}, nil
	}
	s.watching.mu.Lock()
	t := s.watching.tasks[taskKey{learner, inst.Task.Ref}]
	var view *LiveView
	if t != nil {
		view = t.view
	}
	s.watching.mu.Unlock()
	if view != nil {
		return *view, nil
	}
	if _, err := s.workspace.Watched(); err != nil {
		return LiveView{State: LiveAway}, nil
	}
	program, err := grader.Compile(inst)
	if err != nil {
		return LiveView{}, err
	}
	return *s.look(ctx, program), nil
}
