package kube

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podproof/podproof/grader"
)

// Snapshot lists the kinds in parallel, each as it is now: nothing comes from
// a cache.
func (c *Client) Snapshot(ctx context.Context, namespace string, kinds []grader.Kind) (*grader.Snapshot, error) {
	ctx, server := withReading(ctx)
	s := &grader.Snapshot{Namespace: namespace}
	g, gctx := errgroup.WithContext(ctx)
	recorded := false
	for _, kind := range kinds {
		recorded = recorded || kind == grader.KindPod || kind == grader.KindJob
		g.Go(func() error {
			return classify(fmt.Sprintf("list %s objects in %s", kind, namespace), c.list(gctx, s, kind))
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	s.Taken = server.now()
	if recorded && c.history != nil {
		var err error
		if s.History, s.Blind, err = c.history.History(ctx, namespace); err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", namespace, err)
		}
	}
	return s, nil
}

// list fills the one field of s that belongs to kind.
func (c *Client) list(ctx context.Context, s *grader.Snapshot, kind grader.Kind) error {
	core, apps, batch := c.typed.CoreV1(), c.typed.AppsV1(), c.typed.BatchV1()
	var opts metav1.ListOptions
	switch kind {
	case grader.KindPod:
		l, err := core.Pods(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.Pods = stripped(l.Items)
	case grader.KindDeployment:
		l, err := apps.Deployments(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.Deployments = stripped(l.Items)
	case grader.KindReplicaSet:
		l, err := apps.ReplicaSets(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.ReplicaSets = stripped(l.Items)
	case grader.KindJob:
		l, err := batch.Jobs(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.Jobs = stripped(l.Items)
	case grader.KindCronJob:
		l, err := batch.CronJobs(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.CronJobs = stripped(l.Items)
	case grader.KindService:
		l, err := core.Services(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.Services = stripped(l.Items)
	case grader.KindEndpointSlice:
		l, err := c.typed.DiscoveryV1().EndpointSlices(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.EndpointSlices = stripped(l.Items)
	case grader.KindConfigMap:
		l, err := core.ConfigMaps(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.ConfigMaps = stripped(l.Items)
	case grader.KindSecret:
		l, err := core.Secrets(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.Secrets = stripped(l.Items)
	case grader.KindEvent:
		l, err := core.Events(s.Namespace).List(ctx, opts)
		if err != nil {
			return err
		}
		s.Events = stripped(l.Items)
	default:
		return fmt.Errorf("podproof does not read this kind")
	}
	return nil
}

// object is a pointer to an API type T.
type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// stripped drops managedFields, which are large and which no check looks at.
func stripped[T any, P object[T]](items []T) []T {
	for i := range items {
		P(&items[i]).SetManagedFields(nil)
	}
	return items
}

// Elsewhere looks in the learner's other lab namespaces.
func (c *Client) Elsewhere(ctx context.Context, namespace string, kind grader.Kind, name string) ([]string, error) {
	resource, err := resourceOf(kind)
	if err != nil {
		return nil, err
	}
	var (
		mu    sync.Mutex
		found []string
	)
	g, ctx := errgroup.WithContext(ctx)
	for _, other := range c.siblings(namespace) {
		if other == namespace {
			continue
		}
		g.Go(func() error {
			_, err := c.meta.Resource(resource).Namespace(other).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return classify(fmt.Sprintf("look for %s/%s in %s", kind, name, other), err)
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, other)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	sort.Strings(found)
	return found, nil
}

// resourceOf is the API resource of a kind.
func resourceOf(kind grader.Kind) (schema.GroupVersionResource, error) {
	core := func(r string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: r}
	}
	switch kind {
	case grader.KindPod:
		return core("pods"), nil
	case grader.KindService:
		return core("services"), nil
	case grader.KindConfigMap:
		return core("configmaps"), nil
	case grader.KindSecret:
		return core("secrets"), nil
	case grader.KindEvent:
		return core("events"), nil
	case grader.KindDeployment:
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, nil
	case grader.KindReplicaSet:
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, nil
	case grader.KindJob:
		return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, nil
	case grader.KindCronJob:
		return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}, nil
	case grader.KindEndpointSlice:
		return schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}, nil
	}
	return schema.GroupVersionResource{}, fmt.Errorf("podproof does not know the kind %q", kind)
}
