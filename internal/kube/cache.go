package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podproof/podproof/grader"
)

// Cache holds the objects of some namespaces as watches bring them: one watch
// of each kind for all namespaces. Those that a Recorder has anyway come from
// it; Run watches the others. It is safe for concurrent use.
type Cache struct {
	keep   func(namespace string) bool
	notify func(namespace string, kind grader.Kind)

	mu    sync.RWMutex
	kinds map[grader.Kind]*shelf
}

// shelf is what is known of one kind.
type shelf struct {
	objects map[string]map[string]metav1.Object // by namespace and name
	synced  bool
	lost    error // why the watch does not run now
}

// NewCache returns an empty Cache of the namespaces that keep accepts. notify
// is called after each change, and with an empty namespace when a kind comes
// or goes out of sight; it must not wait.
func NewCache(keep func(namespace string) bool, notify func(namespace string, kind grader.Kind)) *Cache {
	c := &Cache{keep: keep, notify: notify, kinds: map[grader.Kind]*shelf{}}
	for _, kind := range []grader.Kind{
		grader.KindPod, grader.KindDeployment, grader.KindReplicaSet, grader.KindJob, grader.KindCronJob,
		grader.KindService, grader.KindEndpointSlice, grader.KindConfigMap, grader.KindSecret, grader.KindEvent,
	} {
		c.kinds[kind] = &shelf{objects: map[string]map[string]metav1.Object{}}
	}
	return c
}

// Run watches the kinds that no Recorder feeds, until ctx ends.
func (c *Cache) Run(ctx context.Context, client *Client) {
	core, apps := client.typed.CoreV1().RESTClient(), client.typed.AppsV1().RESTClient()
	var wg sync.WaitGroup
	for _, w := range []struct {
		kind   grader.Kind
		client rest.Interface
		object runtime.Object
	}{
		{grader.KindDeployment, apps, &appsv1.Deployment{}},
		{grader.KindReplicaSet, apps, &appsv1.ReplicaSet{}},
		{grader.KindCronJob, client.typed.BatchV1().RESTClient(), &batchv1.CronJob{}},
		{grader.KindService, core, &corev1.Service{}},
		{grader.KindEndpointSlice, client.typed.DiscoveryV1().RESTClient(), &discoveryv1.EndpointSlice{}},
		{grader.KindConfigMap, core, &corev1.ConfigMap{}},
		{grader.KindSecret, core, &corev1.Secret{}},
	} {
		wg.Go(func() {
			resource, err := resourceOf(w.kind)
			if err != nil {
				c.sight(ctx, w.kind, err)
				return
			}
			lw := cache.NewListWatchFromClient(w.client, resource.Resource, metav1.NamespaceAll, fields.Everything())
			cache.NewReflectorWithOptions(c.tracked(w.kind, lw), w.object, feed{c, w.kind},
				cache.ReflectorOptions{Name: "podproof cache"}).RunWithContext(ctx)
		})
	}
	wg.Wait()
}

// tracked notes whether the watch of a kind can be had.
func (c *Cache) tracked(kind grader.Kind, lw *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := lw.ListWithContext(ctx, o)
			if err != nil {
				c.sight(ctx, kind, err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := lw.WatchWithContext(ctx, o)
			// The client gives an empty watch, and no error, for a connection
			// that is closed at once, as by a proxy without a server.
			if err == nil && reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch()) {
				c.sight(ctx, kind, io.ErrUnexpectedEOF)
			} else {
				c.sight(ctx, kind, err)
			}
			return w, err
		},
	}
}

func (c *Cache) sight(ctx context.Context, kind grader.Kind, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	s := c.kinds[kind]
	changed := (s.lost == nil) != (err == nil)
	s.lost = err
	c.mu.Unlock()
	if changed {
		c.notify("", kind)
	}
}

// Cluster is the cluster as the caches show it: Snapshot and Elsewhere ask the
// API server nothing. The error tells what is out of sight.
func (c *Cache) Cluster(client *Client) (grader.Cluster, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for kind, s := range c.kinds {
		switch {
		case s.lost != nil:
			return nil, classify(fmt.Sprintf("watch %s objects", kind), s.lost)
		case !s.synced:
			return nil, fmt.Errorf("%s objects have not been listed yet", kind)
		}
	}
	return cached{client, c}, nil
}

// cached reads from the cache and probes by the client.
type cached struct {
	*Client
	cache *Cache
}

// Snapshot implements grader.Cluster. The objects are shared: to be read only.
func (c cached) Snapshot(ctx context.Context, namespace string, kinds []grader.Kind) (*grader.Snapshot, error) {
	s := &grader.Snapshot{Namespace: namespace, Taken: time.Now()}
	c.cache.mu.RLock()
	defer c.cache.mu.RUnlock()
	for _, kind := range kinds {
		shelf := c.cache.kinds[kind]
		if shelf == nil {
			return nil, fmt.Errorf("podproof does not watch the kind %q", kind)
		}
		objects := shelf.objects[namespace]
		switch kind {
		case grader.KindPod:
			s.Pods = inOrder[corev1.Pod](objects)
		case grader.KindDeployment:
			s.Deployments = inOrder[appsv1.Deployment](objects)
		case grader.KindReplicaSet:
			s.ReplicaSets = inOrder[appsv1.ReplicaSet](objects)
		case grader.KindJob:
			s.Jobs = inOrder[batchv1.Job](objects)
		case grader.KindCronJob:
			s.CronJobs = inOrder[batchv1.CronJob](objects)
		case grader.KindService:
			s.Services = inOrder[corev1.Service](objects)
		case grader.KindEndpointSlice:
			s.EndpointSlices = inOrder[discoveryv1.EndpointSlice](objects)
		case grader.KindConfigMap:
			s.ConfigMaps = inOrder[corev1.ConfigMap](objects)
		case grader.KindSecret:
			s.Secrets = inOrder[corev1.Secret](objects)
		case grader.KindEvent:
			s.Events = inOrder[corev1.Event](objects)
		}
	}
	if c.history != nil && (slices.Contains(kinds, grader.KindPod) || slices.Contains(kinds, grader.KindJob)) {
		var err error
		if s.History, s.Blind, err = c.history.History(ctx, namespace); err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", namespace, err)
		}
	}
	return s, nil
}

// inOrder returns the objects in the order in which the API lists them.
func inOrder[T any, P object[T]](objects map[string]metav1.Object) []T {
	var out []T
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if o, ok := objects[name].(P); ok {
			out = append(out, *o)
		}
	}
	return out
}

// Elsewhere implements grader.Cluster.
func (c cached) Elsewhere(_ context.Context, namespace string, kind grader.Kind, name string) ([]string, error) {
	c.cache.mu.RLock()
	defer c.cache.mu.RUnlock()
	shelf := c.cache.kinds[kind]
	if shelf == nil {
		return nil, fmt.Errorf("podproof does not watch the kind %q", kind)
	}
	var found []string
	for _, other := range c.siblings(namespace) {
		if other != namespace && shelf.objects[other][name] != nil {
			found = append(found, other)
		}
	}
	slices.Sort(found)
	return found, nil
}

// feed takes what a reflector brings of one kind.
type feed struct {
	cache *Cache
	kind  grader.Kind
}

// Add, Update, Delete, Replace and Resync make it a cache.ReflectorStore.

func (f feed) Add(o any) error    { return f.change(o, true) }
func (f feed) Update(o any) error { return f.change(o, true) }
func (f feed) Delete(o any) error { return f.change(o, false) }
func (f feed) Resync() error      { return nil }

func (f feed) change(o any, exists bool) error {
	m, ok := o.(metav1.Object)
	if !ok {
		return fmt.Errorf("cache: unexpected %T", o)
	}
	namespace := m.GetNamespace()
	if !f.cache.keep(namespace) {
		return nil
	}
	f.cache.mu.Lock()
	shelf := f.cache.kinds[f.kind]
	if exists {
		shelf.put(m)
	} else {
		delete(shelf.objects[namespace], m.GetName())
	}
	f.cache.mu.Unlock()
	f.cache.notify(namespace, f.kind)
	return nil
}

func (s *shelf) put(o metav1.Object) {
	o.SetManagedFields(nil) // large, and no check looks at them
	of := s.objects[o.GetNamespace()]
	if of == nil {
		of = map[string]metav1.Object{}
		s.objects[o.GetNamespace()] = of
	}
	of[o.GetName()] = o
}

func (f feed) Replace(list []any, _ string) error {
	f.cache.mu.Lock()
	shelf := f.cache.kinds[f.kind]
	shelf.objects = map[string]map[string]metav1.Object{}
	shelf.synced = true
	for _, o := range list {
		if m, ok := o.(metav1.Object); ok && f.cache.keep(m.GetNamespace()) {
			shelf.put(m)
		}
	}
	f.cache.mu.Unlock()
	f.cache.notify("", f.kind)
	return nil
}

// both brings everything to the recorder first, so that the history is there
// when the cache tells of the change.
type both struct{ first, second cache.ReflectorStore }

func (b both) Add(o any) error    { return errors.Join(b.first.Add(o), b.second.Add(o)) }
func (b both) Update(o any) error { return errors.Join(b.first.Update(o), b.second.Update(o)) }
func (b both) Delete(o any) error { return errors.Join(b.first.Delete(o), b.second.Delete(o)) }
func (b both) Resync() error      { return errors.Join(b.first.Resync(), b.second.Resync()) }

func (b both) Replace(list []any, version string) error {
	return errors.Join(b.first.Replace(list, version), b.second.Replace(list, version))
}
