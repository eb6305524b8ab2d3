// Package study holds what a learner does: open a task, start it, work, have
// it graded, take a hint, read the solution, begin again. It decides; storing
// and the cluster are behind the ports Store and Workspace.
package study

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// Learner identifies a learner in the store and chooses the namespaces.
type Learner string

// Local is the one learner of a server without accounts.
const Local Learner = "local"

// Service offers the learner's use cases. It is safe for concurrent use.
// Every error that it returns explains itself through Explain.
type Service struct {
	catalog   *labs.Catalog
	store     Store
	workspace Workspace
	log       *slog.Logger
	now       func() time.Time

	watching *watching

	mu   sync.Mutex
	busy map[taskKey]string // what is being done: grading, reset, start
}

type taskKey struct {
	learner Learner
	ref     labs.Ref
}

// New returns a Service over a catalogue that was loaded without problems.
func New(catalog *labs.Catalog, store Store, workspace Workspace, log *slog.Logger) *Service {
	return &Service{
		catalog:   catalog,
		store:     store,
		workspace: workspace,
		log:       log,
		now:       time.Now,
		watching:  newWatching(),
		busy:      make(map[taskKey]string),
	}
}

// Cluster tells how far the cluster is; it needs neither cluster nor store.
func (s *Service) Cluster() ClusterState { return s.workspace.State() }

// Overview returns every lab and task with the learner's progress. It works
// while the cluster is still coming up.
func (s *Service) Overview(ctx context.Context, learner Learner) (*Overview, error) {
	records, err := s.store.Records(ctx, learner)
	if err != nil {
		return nil, storeError("read progress", err)
	}
	o := &Overview{Cluster: s.workspace.State()}
	for _, lab := range s.catalog.Labs {
		lv := LabView{Name: lab.Name, Title: lab.Title, Summary: lab.Summary}
		for _, task := range lab.Tasks {
			card := TaskCard{
				Ref:        task.Ref,
				Title:      task.Title,
				Curriculum: task.Curriculum,
				Difficulty: task.Difficulty,
				Minutes:    task.Minutes,
				Progress:   records[task.Ref].Progress,
			}
			if card.Progress.Solved != nil {
				lv.Solved++
			}
			lv.Tasks = append(lv.Tasks, card)
		}
		o.Labs = append(o.Labs, lv)
	}
	return o, nil
}

// Open returns all that a task's page shows. The first time it draws the
// learner's seed, so that the values in the prompt stay the same ever after.
// It changes nothing on the cluster and works without one.
func (s *Service) Open(ctx context.Context, learner Learner, ref labs.Ref) (*TaskView, error) {
	task, inst, rec, err := s.load(ctx, learner, ref)
	if err != nil {
		return nil, err
	}
	attempts, err := s.store.Attempts(ctx, learner, ref, maxAttempts)
	if err != nil {
		return nil, storeError("read attempts", err)
	}
	v := &TaskView{
		Ref:        ref,
		Title:      task.Title,
		Curriculum: task.Curriculum,
		Difficulty: task.Difficulty,
		Minutes:    task.Minutes,
		Docs:       task.Docs,
		Namespace:  inst.Namespace,
		Params:     inst.Params,
		Prompt:     inst.Prompt,
		Points:     inst.Points(),
		HasSetup:   inst.Setup != "",
		Removes:    inst.Objects(),
		Progress:   rec.Progress,
		Attempts:   attempts,
		HintCount:  len(inst.Hints),
		Hints:      inst.Hints[:min(rec.Hints, len(inst.Hints))],
		Activity:   s.activity(learner, ref),
		Cluster:    s.workspace.State(),
	}
	if v.Live, err = s.liveView(ctx, learner, inst, rec.Started != nil); err != nil {
		return nil, fmt.Errorf("look at %s: %w", ref, err)
	}
	for _, c := range inst.Checks {
		v.Checks = append(v.Checks, CheckView{ID: c.ID, Title: c.Title, Points: c.Points})
	}
	if len(attempts) > 0 {
		v.Last = &attempts[0]
	}
	if rec.SolutionSeen != nil {
		v.Solution = &SolutionView{Text: inst.Solution, Answer: inst.Answer}
	}
	s.place(v)
	return v, nil
}

// maxAttempts is how many attempts a task's page lists.
const maxAttempts = 50

// place fills in the task's lab and its neighbours in the course.
func (s *Service) place(v *TaskView) {
	var all []labs.Ref
	for _, lab := range s.catalog.Labs {
		if lab.Name == v.Ref.Lab {
			v.LabTitle = lab.Title
		}
		for _, t := range lab.Tasks {
			all = append(all, t.Ref)
		}
	}
	for i, ref := range all {
		if ref != v.Ref {
			continue
		}
		if i > 0 {
			v.Previous = &all[i-1]
		}
		if i+1 < len(all) {
			v.Next = &all[i+1]
		}
	}
}

// Start applies the task's setup, and remembers that the learner began. To
// start a started task again is no error and changes nothing.
func (s *Service) Start(ctx context.Context, learner Learner, ref labs.Ref) error {
	_, inst, rec, err := s.load(ctx, learner, ref)
	if err != nil {
		return err
	}
	if rec.Started != nil {
		return nil
	}
	done, err := s.begin(learner, ref, ActivityStart)
	if err != nil {
		return err
	}
	defer done()
	return s.start(ctx, learner, inst)
}

func (s *Service) start(ctx context.Context, learner Learner, inst *labs.Instance) error {
	if inst.Setup != "" {
		if err := s.workspace.Apply(ctx, inst.Namespace, inst.Setup); err != nil {
			return clusterError("apply the task's setup", err)
		}
	}
	if err := s.store.MarkStarted(ctx, learner, inst.Task.Ref, s.now()); err != nil {
		return storeError("remember the start", err)
	}
	return nil
}

// Reset takes the task's objects away, waits until they are gone and applies
// the setup anew. Attempts and the solved mark stay.
func (s *Service) Reset(ctx context.Context, learner Learner, ref labs.Ref) error {
	_, inst, _, err := s.load(ctx, learner, ref)
	if err != nil {
		return err
	}
	done, err := s.begin(learner, ref, ActivityReset)
	if err != nil {
		return err
	}
	defer done()
	if err := s.workspace.Reset(ctx, inst); err != nil {
		return clusterError("reset the task", err)
	}
	if err := s.store.MarkStarted(ctx, learner, ref, s.now()); err != nil {
		return storeError("remember the start", err)
	}
	return nil
}

// Grade grades the task as it stands on the cluster, waiting for what may
// still come up to each check's own limit, and stores the attempt. Only one
// activity runs per learner and task; a second is refused with CodeBusy.
//
// A check that could not be decided is no error: the attempt is stored with
// its verdict and the learner may check again.
func (s *Service) Grade(ctx context.Context, learner Learner, ref labs.Ref) (*Attempt, error) {
	_, inst, rec, err := s.load(ctx, learner, ref)
	if err != nil {
		return nil, err
	}
	if rec.Started == nil && inst.Setup != "" {
		return nil, &Error{Code: CodeNotStarted, Message: grader.Msg("study.notStarted", "task", ref.String())}
	}
	done, err := s.begin(learner, ref, ActivityGrade)
	if err != nil {
		return nil, err
	}
	defer done()
	if rec.Started == nil {
		if err := s.start(ctx, learner, inst); err != nil {
			return nil, err
		}
	}
	report, err := s.evaluate(ctx, inst)
	if err != nil {
		return nil, err
	}
	evidence, err := Pack(report.Evidence)
	if err != nil {
		return nil, fmt.Errorf("compress the evidence of %s: %w", ref, err)
	}
	a := newAttempt(ref, report, rec.Seed)
	// What was graded is worth keeping even where the page has gone away.
	if a.ID, err = s.store.SaveAttempt(context.WithoutCancel(ctx), learner, a, evidence); err != nil {
		return nil, storeError("store the attempt", err)
	}
	return &a, nil
}

// RevealHint shows one more hint, up to the last.
func (s *Service) RevealHint(ctx context.Context, learner Learner, ref labs.Ref) error {
	_, inst, rec, err := s.load(ctx, learner, ref)
	if err != nil {
		return err
	}
	if rec.Hints >= len(inst.Hints) {
		return nil
	}
	if err := s.store.SetHints(ctx, learner, ref, rec.Hints+1); err != nil {
		return storeError("remember the hint", err)
	}
	return nil
}

// RevealSolution shows the explained answer from now on.
func (s *Service) RevealSolution(ctx context.Context, learner Learner, ref labs.Ref) error {
	_, _, rec, err := s.load(ctx, learner, ref)
	if err != nil {
		return err
	}
	if rec.SolutionSeen != nil {
		return nil
	}
	if err := s.store.MarkSolutionSeen(ctx, learner, ref, s.now()); err != nil {
		return storeError("remember the solution", err)
	}
	return nil
}

// load finds the task, the learner's record of it and the rendered instance.
func (s *Service) load(ctx context.Context, learner Learner, ref labs.Ref) (*labs.Task, *labs.Instance, Record, error) {
	task, ok := s.catalog.Task(ref)
	if !ok {
		return nil, nil, Record{}, &Error{Code: CodeNotFound, Message: grader.Msg("study.noTask", "task", ref.String())}
	}
	// Seeds stay below 2^63, which is what the store can hold.
	rec, err := s.store.Ensure(ctx, learner, ref, rand.Uint64()>>1)
	if err != nil {
		return nil, nil, Record{}, storeError("read the task's record", err)
	}
	inst, err := task.Instance(s.workspace.Namespace(learner, ref.Lab), rec.Seed)
	if err != nil {
		return nil, nil, Record{}, fmt.Errorf("render %s: %w", ref, err)
	}
	return task, inst, rec, nil
}

// begin claims the task for one activity; the caller calls the returned
// function when it ends.
func (s *Service) begin(learner Learner, ref labs.Ref, activity Activity) (func(), error) {
	key := taskKey{learner, ref}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.busy[key]; now != "" {
		return nil, &Error{Code: CodeBusy, Message: grader.Msg("study.busy."+now, "task", ref.String())}
	}
	s.busy[key] = string(activity)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, key)
	}, nil
}

func (s *Service) activity(learner Learner, ref labs.Ref) Activity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Activity(s.busy[taskKey{learner, ref}])
}
