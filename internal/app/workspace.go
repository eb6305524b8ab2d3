package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// Workspace brings a cluster up, provisions it, and is the cluster side of the
// learner's use cases. It is safe for concurrent use.
type Workspace struct {
	provider   cluster.Provider
	namespaces []string
	kubeconfig string // where the learner's is written
	log        *slog.Logger
	onStep     cluster.Progress // may be nil
	store      *sqlite.Store
	onChange   func(namespace string, kind grader.Kind)

	mu     sync.Mutex
	state  study.ClusterState
	client *kube.Client // nil until ready
	cache  *kube.Cache  // of that client

	recorder     sync.WaitGroup
	stopRecorder context.CancelFunc
}

// NewWorkspace returns a Workspace without a cluster; Up brings it up. The
// learner's kubeconfig is written to the given path, the recorder's history to
// store. onStep is called with each event, and may be nil.
func NewWorkspace(p cluster.Provider, namespaces []string, kubeconfig string, store *sqlite.Store, log *slog.Logger, onStep cluster.Progress) *Workspace {
	return &Workspace{
		provider:   p,
		namespaces: namespaces,
		kubeconfig: kubeconfig,
		log:        log,
		onStep:     onStep,
		store:      store,
		// Nothing is being recorded yet.
		stopRecorder: func() {},
		onChange:     func(string, grader.Kind) {},
		state:        study.ClusterState{Phase: study.ClusterStarting, Provider: p.Name()},
	}
}

// Up makes the cluster ready for learners. A cluster that runs already, held
// by this or another process, is used as it is. Up may be called again after
// an error, which wraps study.ErrUnavailable.
func (w *Workspace) Up(ctx context.Context) error {
	w.change(func(s *study.ClusterState) {
		s.Phase, s.Problem, s.Steps = study.ClusterStarting, "", nil
	})
	if err := w.up(ctx); err != nil {
		w.change(func(s *study.ClusterState) {
			s.Phase, s.Problem = study.ClusterFailed, err.Error()
		})
		return unavailable(err)
	}
	return nil
}

func (w *Workspace) up(ctx context.Context) error {
	if err := w.provider.Ensure(ctx, w.progress); err != nil {
		return fmt.Errorf("start the %s cluster: %w", w.provider.Name(), err)
	}
	client, err := connect(ctx, w.provider, kube.WithLabs(w.namespaces...))
	if err != nil {
		return err
	}
	version, err := client.Version(ctx)
	if err != nil {
		return err
	}
	if err := w.provision(ctx, client); err != nil {
		return err
	}
	identity, err := client.Identity(ctx)
	if err != nil {
		return err
	}
	past := newHistory(w.store, identity)
	client = client.With(kube.WithHistory(past))
	cache, err := w.record(ctx, client, past)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.client, w.cache = client, cache
	w.mu.Unlock()
	w.onChange("", "") // whatever was out of sight until now
	w.change(func(s *study.ClusterState) {
		s.Phase, s.Version, s.Kubeconfig = study.ClusterReady, version, w.kubeconfig
	})
	return nil
}

// connect returns an administrator's client of the provider's cluster.
func connect(ctx context.Context, p cluster.Provider, opts ...kube.Option) (*kube.Client, error) {
	admin, err := restConfig(ctx, p)
	if err != nil {
		return nil, err
	}
	client, err := kube.New(admin, opts...)
	if err != nil {
		return nil, fmt.Errorf("cluster client: %w", err)
	}
	return client, nil
}

func (w *Workspace) provision(ctx context.Context, client *kube.Client) error {
	const step = "labs"
	w.progress(cluster.Event{Step: step, Text: "Preparing the labs"})
	// Several namespaces are prepared at once, so the details come in any
	// order and are for the log only.
	err := client.Provision(ctx, w.namespaces, func(detail string) {
		w.log.DebugContext(ctx, "provision", "detail", detail)
	})
	if err == nil {
		err = w.writeKubeconfig(ctx, client)
	}
	w.progress(cluster.Event{Step: step, Text: "Preparing the labs", Done: true, Err: err})
	if err != nil {
		return fmt.Errorf("prepare the labs: %w", err)
	}
	// What an earlier, killed process left of its trials disturbs nobody, so a
	// failure to sweep is no reason not to start.
	if err := client.Sweep(ctx); err != nil {
		w.log.WarnContext(ctx, "scratch namespaces left behind", "error", err)
	}
	return nil
}

// record watches the labs from now on, until Close.
func (w *Workspace) record(ctx context.Context, client *kube.Client, past *history) (*kube.Cache, error) {
	w.stopRecorder() // of an earlier try
	w.recorder.Wait()
	labs := func(namespace string) bool {
		return slices.Contains(w.namespaces, namespace) || isTrial(namespace)
	}
	recorder := kube.NewRecorder(client, labs, past, w.log)
	cache := kube.NewCache(func(namespace string) bool { return slices.Contains(w.namespaces, namespace) }, w.onChange)
	recorder.Feed(cache)
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stopRecorder = stop
	w.recorder.Go(func() { recorder.Run(watching) })
	w.recorder.Go(func() { cache.Run(watching, client) })
	if err := recorder.WaitSynced(ctx); err != nil {
		return nil, fmt.Errorf("watch the labs: %w", err)
	}
	w.recorder.Go(func() { past.labs.Run(watching, recorder.Sight, w.log) })
	return cache, nil
}

func (w *Workspace) writeKubeconfig(ctx context.Context, client *kube.Client) error {
	if len(w.namespaces) == 0 {
		return errors.New("there is no lab")
	}
	raw, err := client.LearnerKubeconfig(ctx, w.namespaces, w.namespaces[0])
	if err != nil {
		return fmt.Errorf("learner's kubeconfig: %w", err)
	}
	if err := writeFile(w.kubeconfig, raw); err != nil {
		return fmt.Errorf("write the learner's kubeconfig: %w", err)
	}
	return nil
}

// writeFile replaces a file at once, readable by its owner only.
func writeFile(path string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), path)
}

// Close releases the cluster: an embedded one stops, unless another process
// holds it.
func (w *Workspace) Close(ctx context.Context) error {
	w.mu.Lock()
	w.client = nil
	w.mu.Unlock()
	w.stopRecorder()
	w.recorder.Wait()
	if err := w.provider.Close(ctx); err != nil {
		return fmt.Errorf("stop the %s cluster: %w", w.provider.Name(), err)
	}
	return nil
}

// State implements study.Workspace.
func (w *Workspace) State() study.ClusterState {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	s.Steps = slices.Clone(s.Steps)
	return s
}

func (w *Workspace) change(f func(*study.ClusterState)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.state)
}

// progress keeps the steps for the page: a new event of a known step changes it.
func (w *Workspace) progress(e cluster.Event) {
	w.change(func(s *study.ClusterState) {
		i := slices.IndexFunc(s.Steps, func(x study.ClusterStep) bool { return x.ID == e.Step })
		if i < 0 {
			s.Steps = append(s.Steps, study.ClusterStep{ID: e.Step, Started: time.Now()})
			i = len(s.Steps) - 1
		}
		step := &s.Steps[i]
		if e.Text != "" {
			step.Text = e.Text
		}
		step.Done = e.Done
		if e.Err != nil {
			step.Problem = e.Err.Error()
		}
	})
	if w.onStep != nil {
		w.onStep(e)
	}
}

// Client returns the administrator's client of a cluster that is ready.
func (w *Workspace) Client() (*kube.Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		return w.client, nil
	}
	if w.state.Problem != "" {
		return nil, fmt.Errorf("%w: %s", study.ErrUnavailable, w.state.Problem)
	}
	return nil, study.ErrUnavailable
}

// Grader implements study.Workspace.
func (w *Workspace) Grader() (grader.Cluster, error) { return w.Client() }

// Watched implements study.Workspace.
func (w *Workspace) Watched() (grader.Cluster, error) {
	client, err := w.Client()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	cache := w.cache
	w.mu.Unlock()
	return cache.Cluster(client)
}

// OnChange has f told what changes on the cluster, as kube.NewCache says. It
// is called before Up.
func (w *Workspace) OnChange(f func(namespace string, kind grader.Kind)) { w.onChange = f }

// Namespace implements study.Workspace. There is one learner, so a lab's name
// is its namespace.
func (w *Workspace) Namespace(_ study.Learner, lab string) string { return lab }

// Apply implements study.Workspace.
func (w *Workspace) Apply(ctx context.Context, namespace, manifest string) error {
	client, err := w.Client()
	if err != nil {
		return err
	}
	return explained(client.Apply(ctx, namespace, manifest))
}

// Reset implements study.Workspace.
func (w *Workspace) Reset(ctx context.Context, inst *labs.Instance) error {
	client, err := w.Client()
	if err != nil {
		return err
	}
	return explained(client.Reset(ctx, inst.Namespace, inst.Objects(), inst.Setup))
}
