package kube

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// How long a deleted object may take before its finalizers are removed, and a
// Pod before it is removed without its node's word.
const (
	finalizerPatience = 4 * time.Second
	nodePatience      = 15 * time.Second
)

// Reset deletes the objects, those that the setup names, and all that they
// own, waits until every one is gone, and applies the setup. Finalizers that
// nobody serves are removed. Objects of other tasks stay as they are.
func (c *Client) Reset(ctx context.Context, namespace string, objects []labs.ObjectRef, setup string) error {
	if err := c.Delete(ctx, namespace, objects, setup); err != nil {
		return err
	}
	return c.Apply(ctx, namespace, setup)
}

// Delete is Reset without the new start.
func (c *Client) Delete(ctx context.Context, namespace string, objects []labs.ObjectRef, setup string) error {
	start, err := parse(setup)
	if err != nil {
		return err
	}
	for _, o := range start {
		objects = append(objects, labs.ObjectRef{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName()})
	}
	doomed, err := c.find(ctx, namespace, objects)
	if err != nil {
		return err
	}
	began := time.Now()
	err = wait.PollUntilContextCancel(ctx, 150*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if err := c.withOwned(ctx, namespace, doomed); err != nil {
			return false, err
		}
		left, err := c.deleteAll(ctx, namespace, doomed, time.Since(began))
		return left == 0, err
	})
	if err != nil {
		return classify("remove the task's objects in "+namespace, err)
	}
	return nil
}

// condemned is an object that is to go, told from a later one of the same
// name by its UID.
type condemned struct {
	resource schema.GroupVersionResource
	kind     string
	name     string
	uid      types.UID
	asked    bool // deletion was asked for
	gone     bool
}

// resource finds the API resource of a reference; namespaced is false for
// what belongs to the whole cluster.
func (c *Client) resource(ref labs.ObjectRef) (r schema.GroupVersionResource, namespaced bool, err error) {
	if r, err := resourceOf(grader.Kind(ref.Kind)); err == nil {
		return r, true, nil
	}
	mapping, err := c.mapping(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err != nil {
		return r, false, err
	}
	return mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// find gets the UIDs of those objects that exist.
func (c *Client) find(ctx context.Context, namespace string, refs []labs.ObjectRef) (map[types.UID]*condemned, error) {
	found := make([]*condemned, len(refs))
	g, ctx := errgroup.WithContext(ctx)
	for i, ref := range refs {
		g.Go(func() error {
			resource, namespaced, err := c.resource(ref)
			if err != nil || !namespaced {
				return err // an object of the whole cluster outlives a task
			}
			o, err := c.meta.Resource(resource).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return classify(fmt.Sprintf("look for %s in %s", ref, namespace), err)
			}
			found[i] = &condemned{resource: resource, kind: ref.Kind, name: ref.Name, uid: o.UID}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	doomed := map[types.UID]*condemned{}
	for _, o := range found {
		if o != nil {
			doomed[o.uid] = o
		}
	}
	return doomed, nil
}

// withOwned adds what the doomed own, directly or through others. The garbage
// collector would come to it too, but later, and with each Pod's full grace.
// Any owner counts, not only a controller: a Job made by hand from a CronJob
// belongs to it all the same.
func (c *Client) withOwned(ctx context.Context, namespace string, doomed map[types.UID]*condemned) error {
	if len(doomed) == 0 {
		return nil
	}
	// In this order a kind's owners come before it.
	for _, kind := range []grader.Kind{grader.KindJob, grader.KindReplicaSet, grader.KindPod} {
		resource, err := resourceOf(kind)
		if err != nil {
			return err
		}
		list, err := c.meta.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return classify(fmt.Sprintf("list %s objects in %s", kind, namespace), err)
		}
		for _, o := range list.Items {
			for _, owner := range o.OwnerReferences {
				if doomed[owner.UID] != nil && doomed[o.UID] == nil {
					doomed[o.UID] = &condemned{resource: resource, kind: string(kind), name: o.Name, uid: o.UID}
				}
			}
		}
	}
	return nil
}

// deleteAll moves every object one step nearer to its end and counts those
// that are left.
func (c *Client) deleteAll(ctx context.Context, namespace string, doomed map[types.UID]*condemned, passed time.Duration) (int, error) {
	left := 0
	for _, o := range doomed {
		if o.gone {
			continue
		}
		if err := c.deleteOne(ctx, namespace, o, passed); err != nil {
			return 0, fmt.Errorf("remove %s/%s: %w", o.kind, o.name, err)
		}
		if !o.gone {
			left++
		}
	}
	return left, nil
}

func (c *Client) deleteOne(ctx context.Context, namespace string, o *condemned, passed time.Duration) error {
	objects := c.meta.Resource(o.resource).Namespace(namespace)
	if !o.asked {
		// A second is enough for a process that wants to end; the objects are
		// thrown away whatever it does.
		grace := int64(1)
		o.asked = true
		return o.remove(ctx, objects.Delete, grace)
	}
	now, err := objects.Get(ctx, o.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && now.UID != o.uid:
		o.gone = true
		return nil
	case err != nil:
		return err
	}
	if passed > nodePatience && o.kind == string(grader.KindPod) {
		if err := o.remove(ctx, objects.Delete, 0); err != nil {
			return err
		}
	}
	if passed > finalizerPatience && now.DeletionTimestamp != nil && len(now.Finalizers) > 0 {
		patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"finalizers":null}}`, o.uid)
		_, err := objects.Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Manager})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// remove asks for the deletion of this object and no later one of its name.
func (o *condemned) remove(ctx context.Context, del func(context.Context, string, metav1.DeleteOptions, ...string) error, grace int64) error {
	background := metav1.DeletePropagationBackground
	err := del(ctx, o.name, metav1.DeleteOptions{
		GracePeriodSeconds: &grace,
		PropagationPolicy:  &background,
		Preconditions:      &metav1.Preconditions{UID: &o.uid},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		o.gone = true // a conflict means that the name belongs to a later object
		return nil
	}
	return err
}
