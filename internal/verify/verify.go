package verify

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/labs"
)

// Options of a run. The zero value of each field but Message is useful.
type Options struct {
	// Only limits the run: "LAB" or "LAB/TASK"; "" takes all.
	Only string
	// Parallel is the number of cases that run side by side; 0 stands for
	// twice the cores and two, since a case mostly waits.
	Parallel int
	// Variants bounds the param values that the solution is tried with; 0
	// stands for 4. The other cases share the variants among them.
	Variants int
	// Mutate tries mutants of the right answers too.
	Mutate bool
	// Kubectl is the program that shell answers run as kubectl; "" stands for
	// the running one.
	Kubectl string
	// Message renders a reason in English.
	Message func(grader.Message) string
	// Progress is called when a case begins and ends, one call at a time; it
	// may be nil and must not block for long.
	Progress func(Event)
	// Log takes what concerns nobody but an investigator; nil stands for none.
	Log *slog.Logger
}

// Event is a case that began (Case.Outcome is "") or ended.
type Event struct {
	Case Case
	// Done of Total cases have ended.
	Done, Total int
}

// Run proves tasks on the cluster that an administrator's config names. The
// error means that the run could not take place or was called off; what a
// case came to is in the Result.
func Run(ctx context.Context, admin *rest.Config, catalog *labs.Catalog, o Options) (*Result, error) {
	tasks, err := selected(catalog, o.Only)
	if err != nil {
		return nil, err
	}
	if o.Parallel <= 0 {
		o.Parallel = 2*runtime.NumCPU() + 2
	}
	if o.Variants <= 0 {
		o.Variants = 4
	}
	if o.Kubectl == "" {
		if o.Kubectl, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("verify: find kubectl: %w", err)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r, err := newRunner(ctx, admin, o)
	if err != nil {
		return nil, err
	}
	defer r.close()

	result := &Result{Started: time.Now()}
	for _, t := range tasks {
		result.Tasks = append(result.Tasks, Task{Ref: t.Ref, Unexercised: unexercised(t)})
	}
	var work []job
	for i, t := range tasks {
		for _, c := range casesOf(t, o.Variants) {
			work = append(work, job{task: t, place: i, spec: c})
		}
	}
	cases, err := r.runAll(ctx, work, "c")
	if err != nil {
		return nil, err
	}
	for i, c := range cases {
		t := &result.Tasks[work[i].place]
		t.Cases = append(t.Cases, c)
	}
	if o.Mutate {
		if err := r.mutateAll(ctx, tasks, result); err != nil {
			return nil, err
		}
	}
	result.Finished = time.Now()
	return result, nil
}

// selected finds the tasks that a run is about.
func selected(catalog *labs.Catalog, only string) ([]*labs.Task, error) {
	lab, task, one := strings.Cut(only, "/")
	var out []*labs.Task
	for _, l := range catalog.Labs {
		for _, t := range l.Tasks {
			if (lab == "" || t.Ref.Lab == lab) && (!one || t.Ref.Task == task) {
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("verify: there is no lab or task %q", only)
	}
	return out, nil
}

// job is one case to run.
type job struct {
	task  *labs.Task
	place int // of the task in the result
	spec  spec
}

// runner holds what the cases of a run share.
type runner struct {
	options Options
	admin   *kube.Client
	config  *rest.Config
	run     string // names this run's namespaces
	folder  string // of kubectl and its cache

	stop     context.CancelFunc
	recorder sync.WaitGroup
}

func newRunner(ctx context.Context, config *rest.Config, o Options) (*runner, error) {
	var id [3]byte
	_, _ = rand.Read(id[:]) // never fails: it ends the program instead
	r := &runner{options: o, config: config, run: "podproof-verify-" + hex.EncodeToString(id[:])}
	history := kube.NewMemory(4000)
	var err error
	if r.admin, err = kube.New(config, kube.WithHistory(history)); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if err := r.admin.Sweep(ctx); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if err := r.admin.Provision(ctx, nil, nil); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if err := r.makeFolder(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	mine := func(namespace string) bool {
		return strings.HasPrefix(namespace, r.run) || strings.HasPrefix(namespace, "podproof-scratch-")
	}
	recorder := kube.NewRecorder(r.admin, mine, history, o.Log)
	recordCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	r.recorder.Go(func() { recorder.Run(recordCtx) })
	if err := recorder.WaitSynced(ctx); err != nil {
		r.close()
		return nil, fmt.Errorf("verify: %w", err)
	}
	return r, nil
}

func (r *runner) close() {
	r.stop()
	r.recorder.Wait()
	if err := os.RemoveAll(r.folder); err != nil {
		r.options.Log.Warn("remove the run's folder", "error", err)
	}
}

// runAll runs the jobs side by side and returns what they came to in their
// order. letter tells the namespaces of one call from those of another.
func (r *runner) runAll(ctx context.Context, work []job, letter string) ([]Case, error) {
	outcomes := make([]Case, len(work))
	p := &progress{tell: r.options.Progress, total: len(work)}
	var wg sync.WaitGroup
	slots := make(chan struct{}, r.options.Parallel)
	for i := range work {
		wg.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			j := &work[i]
			p.begin(j.spec.start(j.task))
			outcomes[i] = r.runCase(ctx, fmt.Sprintf("%s-%s%d", r.run, letter, i), j.task, j.spec)
			p.end(outcomes[i])
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return outcomes, nil
}

// progress tells events one at a time.
type progress struct {
	mu    sync.Mutex
	tell  func(Event)
	done  int
	total int
}

func (p *progress) begin(c Case) { p.event(c, 0) }
func (p *progress) end(c Case)   { p.event(c, 1) }

func (p *progress) event(c Case, ended int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += ended
	if p.tell != nil {
		p.tell(Event{Case: c, Done: p.done, Total: p.total})
	}
}
