package kube

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/podproof/podproof/grader"
)

// shortGap is how long a watch may be away without counting as blindness: the
// API server ends every watch after some minutes, and the next one carries on
// at the same place.
const shortGap = time.Second

// Recorder watches Pods, Jobs and Events and stores what changes, with the
// time at which it saw the change. One watch of each kind serves all
// namespaces.
type Recorder struct {
	client *Client
	keep   func(namespace string) bool
	into   History
	log    *slog.Logger
	cache  *Cache // may be nil

	synced sync.WaitGroup

	mu         sync.Mutex
	namespaces map[string]bool // that something was recorded of
	sights     []func() time.Time
}

// NewRecorder returns a Recorder of the namespaces that keep accepts. keep is
// asked from several goroutines.
func NewRecorder(c *Client, keep func(namespace string) bool, into History, log *slog.Logger) *Recorder {
	r := &Recorder{client: c, keep: keep, into: into, log: log, namespaces: map[string]bool{}}
	r.synced.Add(3)
	return r
}

// Feed lets the recorder's watches fill c too. It is called before Run.
func (r *Recorder) Feed(c *Cache) { r.cache = c }

// Run records until ctx ends. While the cluster is away it keeps trying, and
// notes the time as blind.
func (r *Recorder) Run(ctx context.Context) {
	core, batch := r.client.typed.CoreV1(), r.client.typed.BatchV1()
	pods := &recording[corev1.Pod, *corev1.Pod]{
		recorder: r, ctx: ctx, kind: "Pod", cached: grader.KindPod, changes: podChanges, slim: slimPod,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.Pods("").List(ctx, o)
		},
		watch: core.Pods("").Watch,
	}
	jobs := &recording[batchv1.Job, *batchv1.Job]{
		recorder: r, ctx: ctx, kind: "Job", cached: grader.KindJob, changes: jobChanges, slim: slimJob,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return batch.Jobs("").List(ctx, o)
		},
		watch: batch.Jobs("").Watch,
	}
	events := &recording[corev1.Event, *corev1.Event]{
		recorder: r, ctx: ctx, kind: "", cached: grader.KindEvent, changes: eventChanges, slim: slimEvent,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.Events("").List(ctx, o)
		},
		watch: core.Events("").Watch,
	}
	r.mu.Lock()
	r.sights = []func() time.Time{pods.sighted, jobs.sighted, events.sighted}
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, run := range []func(){pods.run, jobs.run, events.run} {
		wg.Go(run)
	}
	wg.Wait()
}

// WaitSynced waits until everything that exists has been seen once.
func (r *Recorder) WaitSynced(ctx context.Context) error {
	done := make(chan struct{})
	go func() { r.synced.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return classify("wait for the recorder", ctx.Err())
	}
}

// Sight is the time until which everything has surely been seen: now, or
// since when the cluster is away.
func (r *Recorder) Sight() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := sight()
	for _, sighted := range r.sights {
		if t := sighted(); t.Before(until) {
			until = t
		}
	}
	return until
}

func (r *Recorder) store(ctx context.Context, namespace string, changes []grader.Change) {
	if len(changes) == 0 {
		return
	}
	r.mu.Lock()
	r.namespaces[namespace] = true
	r.mu.Unlock()
	if err := r.into.Record(ctx, namespace, changes); err != nil && ctx.Err() == nil {
		r.log.Error("record changes", "namespace", namespace, "error", err)
	}
}

func (r *Recorder) blind(ctx context.Context, span grader.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for namespace := range r.namespaces {
		if err := r.into.Blind(ctx, namespace, span); err != nil && ctx.Err() == nil {
			r.log.Error("record a blind span", "namespace", namespace, "error", err)
		}
	}
}

// recording is one kind's share: the store that a reflector feeds. The
// reflector calls it from one goroutine.
type recording[T any, P object[T]] struct {
	recorder *Recorder
	ctx      context.Context
	kind     string
	cached   grader.Kind
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	changes  func(old, now *T, seen time.Time) []grader.Change
	slim     func(*T) *T

	once  sync.Once
	began time.Time
	known map[types.UID]P

	mu   sync.Mutex
	lost time.Time // when the last watch ended; zero while one runs
}

func (r *recording[T, P]) run() {
	r.began = sight()
	store := cache.ReflectorStore(r)
	if c := r.recorder.cache; c != nil {
		tracked := c.tracked(r.cached, &cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch})
		r.list, r.watch = tracked.ListWithContextFunc, tracked.WatchFuncWithContext
		store = both{r, feed{c, r.cached}}
	}
	lw := &cache.ListWatch{
		ListWithContextFunc:  r.list,
		WatchFuncWithContext: r.watching,
	}
	reflector := cache.NewReflectorWithOptions(lw, new(T), store, cache.ReflectorOptions{Name: "podproof recorder"})
	reflector.RunWithContext(r.ctx)
}

// sighted is when the watch was lost, or now while it runs.
func (r *recording[T, P]) sighted() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost.IsZero() {
		return sight()
	}
	return r.lost
}

// watching opens a watch and notes when it ends.
func (r *recording[T, P]) watching(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := r.watch(ctx, o)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	lost := r.lost
	r.lost = time.Time{}
	r.mu.Unlock()
	if now := sight(); !lost.IsZero() && now.Sub(lost) > shortGap {
		r.recorder.blind(r.ctx, grader.Span{From: lost, Until: now})
	}
	out := make(chan watch.Event)
	proxy := watch.NewProxyWatcher(out)
	go func() {
		defer func() {
			r.mu.Lock()
			r.lost = sight()
			r.mu.Unlock()
			w.Stop()
			close(out)
		}()
		for {
			select {
			case e, ok := <-w.ResultChan():
				if !ok {
					return
				}
				select {
				case out <- e:
				case <-proxy.StopChan():
					return
				}
			case <-proxy.StopChan():
				return
			}
		}
	}()
	return proxy, nil
}

// Add, Update, Delete, Replace and Resync make it a cache.ReflectorStore.

func (r *recording[T, P]) Add(o any) error    { return r.see(o) }
func (r *recording[T, P]) Update(o any) error { return r.see(o) }
func (r *recording[T, P]) Resync() error      { return nil }

func (r *recording[T, P]) see(o any) error {
	now, ok := o.(P)
	if !ok {
		return fmt.Errorf("record: unexpected %T", o)
	}
	if !r.recorder.keep(now.GetNamespace()) {
		return nil
	}
	old := r.known[now.GetUID()]
	r.recorder.store(r.ctx, now.GetNamespace(), r.changes((*T)(old), (*T)(now), sight()))
	if r.known == nil {
		r.known = map[types.UID]P{}
	}
	r.known[now.GetUID()] = P(r.slim((*T)(now)))
	return nil
}

func (r *recording[T, P]) Delete(o any) error {
	last, ok := o.(P)
	if !ok {
		return fmt.Errorf("record: unexpected %T", o)
	}
	if !r.recorder.keep(last.GetNamespace()) || r.known[last.GetUID()] == nil {
		return nil
	}
	if r.kind != "" {
		// The last state comes with the deletion: it may hold the exit codes.
		if err := r.see(last); err != nil {
			return err
		}
	}
	r.drop(last)
	return nil
}

func (r *recording[T, P]) drop(o P) {
	delete(r.known, o.GetUID())
	if r.kind != "" {
		r.recorder.store(r.ctx, o.GetNamespace(), []grader.Change{deletedChange(r.kind, o, sight())})
	}
}

// Replace takes a new list: the first one, or one after a watch that could
// not carry on, so that changes in between are lost.
func (r *recording[T, P]) Replace(list []any, _ string) error {
	r.mu.Lock()
	lost := r.lost
	r.lost = time.Time{}
	r.mu.Unlock()
	if r.known != nil && !lost.IsZero() {
		r.recorder.blind(r.ctx, grader.Span{From: lost, Until: sight()})
	}
	first, present := r.known == nil, map[types.UID]bool{}
	for _, o := range list {
		if p, ok := o.(P); ok {
			present[p.GetUID()] = true
		}
		if r.kind == "" {
			continue // old events are still in the API; each is told once
		}
		if err := r.see(o); err != nil {
			return err
		}
	}
	for uid, o := range r.known {
		if !present[uid] {
			r.drop(o)
		}
	}
	if r.known == nil {
		r.known = map[types.UID]P{}
	}
	if first && r.kind != "" {
		r.missed(present)
	}
	r.once.Do(r.recorder.synced.Done)
	return nil
}

// missed tells the end of what an earlier recorder saw and what is gone now.
func (r *recording[T, P]) missed(present map[types.UID]bool) {
	alive, err := r.recorder.into.Alive(r.ctx, r.kind)
	if err != nil {
		r.recorder.log.Error("read what was recorded before", "kind", r.kind, "error", err)
		return
	}
	for namespace, objects := range alive {
		if !r.recorder.keep(namespace) {
			continue
		}
		for i := range objects {
			// What another process saw after this one began may be newer than the list.
			if o := &objects[i]; !present[types.UID(o.UID)] && o.Seen.Before(r.began) {
				r.recorder.store(r.ctx, namespace, []grader.Change{
					{Seen: sight(), Object: o.Object, UID: o.UID, Owner: o.Owner, State: stateDeleted},
				})
			}
		}
	}
}

// sight is the time of an observation.
func sight() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// The slim forms hold what the next comparison needs.

func slimMeta(o metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: o.Name, Namespace: o.Namespace, UID: o.UID, OwnerReferences: o.OwnerReferences,
		DeletionTimestamp: o.DeletionTimestamp,
	}
}

func slimPod(p *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: slimMeta(p.ObjectMeta), Status: corev1.PodStatus{
		Phase: p.Status.Phase, Conditions: p.Status.Conditions,
		InitContainerStatuses: p.Status.InitContainerStatuses, ContainerStatuses: p.Status.ContainerStatuses,
		EphemeralContainerStatuses: p.Status.EphemeralContainerStatuses,
	}}
}

func slimJob(j *batchv1.Job) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: slimMeta(j.ObjectMeta), Status: batchv1.JobStatus{Conditions: j.Status.Conditions}}
}

func slimEvent(e *corev1.Event) *corev1.Event {
	return &corev1.Event{ObjectMeta: slimMeta(e.ObjectMeta)}
}

// eventChanges is eventChange in the form that recording wants. An event that
// is reported again has happened again, so old does not matter.
func eventChanges(_, now *corev1.Event, seen time.Time) []grader.Change {
	if c, ok := eventChange(now, seen); ok {
		return []grader.Change{c}
	}
	return nil
}
