package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
)

// Apply applies a manifest's objects, in their order, server-side and with
// strict fields. Objects stand in the namespace unless they name the same one
// or have none. ErrImmutable means that an object exists which must be deleted
// first; ErrRefused that the API server does not take it.
func (c *Client) Apply(ctx context.Context, namespace, manifest string) error {
	return c.each(namespace, manifest, func(o *unstructured.Unstructured, r dynamic.ResourceInterface) error {
		data, err := json.Marshal(o)
		if err != nil {
			return err
		}
		force := true
		_, err = r.Patch(ctx, o.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
			FieldManager: Manager, Force: &force, FieldValidation: metav1.FieldValidationStrict,
		})
		return classify(fmt.Sprintf("apply %s/%s", o.GetKind(), o.GetName()), err)
	})
}

// Replace makes a manifest's objects be exactly as written: it creates each or
// replaces it whole, and deletes and creates it again where the API allows the
// change in no other way. It does what a person with kubectl does to get from
// a task's start to an answer.
func (c *Client) Replace(ctx context.Context, namespace, manifest string) error {
	return c.each(namespace, manifest, func(o *unstructured.Unstructured, r dynamic.ResourceInterface) error {
		op := fmt.Sprintf("replace %s/%s", o.GetKind(), o.GetName())
		err := c.replace(ctx, o, r)
		if !errors.Is(classify(op, err), ErrImmutable) {
			return classify(op, err)
		}
		old, err := r.Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return classify(op, err)
		}
		background := metav1.DeletePropagationBackground
		second := int64(1)
		uid := old.GetUID()
		err = r.Delete(ctx, o.GetName(), metav1.DeleteOptions{
			PropagationPolicy: &background, GracePeriodSeconds: &second, Preconditions: &metav1.Preconditions{UID: &uid},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return classify(op, err)
		}
		err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			now, err := r.Get(ctx, o.GetName(), metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return err == nil && now.GetUID() != uid, err
		})
		if err != nil {
			return classify(op, err)
		}
		return classify(op, c.replace(ctx, o, r))
	})
}

func (c *Client) replace(ctx context.Context, o *unstructured.Unstructured, r dynamic.ResourceInterface) error {
	_, err := r.Create(ctx, o, metav1.CreateOptions{FieldManager: Manager, FieldValidation: metav1.FieldValidationStrict})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = r.Update(ctx, o, metav1.UpdateOptions{FieldManager: Manager, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// each calls do for every object of a manifest with the resource it belongs
// to, and stops at the first error.
func (c *Client) each(namespace, manifest string, do func(*unstructured.Unstructured, dynamic.ResourceInterface) error) error {
	objects, err := parse(manifest)
	if err != nil {
		return err
	}
	for _, o := range objects {
		mapping, err := c.mapping(o.GroupVersionKind())
		if err != nil {
			return err
		}
		var r dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			if ns := o.GetNamespace(); ns != "" && ns != namespace {
				return fmt.Errorf("%s/%s: %w: it names namespace %s, but belongs in %s", o.GetKind(), o.GetName(), ErrRefused, ns, namespace)
			}
			o.SetNamespace(namespace)
			r = c.dynamic.Resource(mapping.Resource).Namespace(namespace)
		}
		if err := do(o, r); err != nil {
			return err
		}
	}
	return nil
}

// mapping finds a kind's resource; it asks the cluster again where the kind
// is not known yet.
func (c *Client) mapping(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, classify(fmt.Sprintf("find the API of %s", gvk.Kind), err)
	}
	return m, nil
}

// parse splits a manifest into objects; a List counts as its items.
func parse(manifest string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the manifest: %w: %w", ErrRefused, err)
		}
		if len(document.Raw) == 0 || string(document.Raw) == "null" {
			continue
		}
		// Kubernetes' own JSON keeps whole numbers whole.
		o := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(document.Raw, &o.Object); err != nil {
			return nil, fmt.Errorf("read the manifest: %w: %w", ErrRefused, err)
		}
		if o.IsList() {
			err = o.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, fmt.Errorf("read the manifest: %w: %w", ErrRefused, err)
			}
			continue
		}
		if o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "" {
			return nil, fmt.Errorf("read the manifest: %w: an object without apiVersion, kind or name", ErrRefused)
		}
		objects = append(objects, o)
	}
}

// put applies one typed object, whole and by force.
func (c *Client) put(ctx context.Context, namespace, kind string, o runtime.Object) error {
	op := "make " + kind
	gvks, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	u := &unstructured.Unstructured{Object: raw}
	u.SetGroupVersionKind(gvks[0])
	delete(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	data, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	mapping, err := c.mapping(gvks[0])
	if err != nil {
		return err
	}
	var r dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
	if namespace != "" {
		r = c.dynamic.Resource(mapping.Resource).Namespace(namespace)
	}
	force := true
	_, err = r.Patch(ctx, u.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: Manager, Force: &force})
	return classify(op, err)
}
