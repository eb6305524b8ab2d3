package kube

import (
	"context"
	"fmt"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Provision makes lab namespaces and the learner's rights in them, and
// returns when a learner can work there. It is idempotent and mends what an
// interrupted run left. A namespace that podproof did not make is refused
// with ErrForeign. progress may be nil; it must not block.
func (c *Client) Provision(ctx context.Context, namespaces []string, progress func(step string)) error {
	tell := func(format string, args ...any) {
		if progress != nil {
			progress(fmt.Sprintf(format, args...))
		}
	}
	tell("learner account %s/%s", SystemNamespace, LearnerAccount)
	if err := c.provisionLearner(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, ns := range namespaces {
		g.Go(func() error {
			tell("namespace %s", ns)
			meta := managed(ns)
			meta.Labels[LabelLab] = ns
			return c.provisionLab(ctx, meta)
		})
	}
	return g.Wait()
}

// ProvisionScratch makes one namespace in which a learner can work and which
// is thrown away soon: Remove removes it, or Sweep if that does not happen.
// Provision must have run once before, if only for no namespace.
func (c *Client) ProvisionScratch(ctx context.Context, namespace string) error {
	meta := managed(namespace)
	meta.Labels[LabelScratch] = ""
	meta.Annotations = ownership()
	return c.provisionLab(ctx, meta)
}

// provisionLearner makes what all labs share.
func (c *Client) provisionLearner(ctx context.Context) error {
	if err := c.ensureNamespace(ctx, managed(SystemNamespace)); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: managed(LearnerAccount)}
	if err := c.put(ctx, SystemNamespace, "ServiceAccount", account); err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: managed(LearnerAccount), Rules: clusterRules()}
	if err := c.put(ctx, "", "ClusterRole", role); err != nil {
		return err
	}
	return c.put(ctx, "", "ClusterRoleBinding", &rbacv1.ClusterRoleBinding{
		ObjectMeta: managed(LearnerAccount),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: LearnerAccount},
		Subjects:   learnerSubject(),
	})
}

func (c *Client) provisionLab(ctx context.Context, namespace metav1.ObjectMeta) error {
	ns := namespace.Name
	if err := c.ensureNamespace(ctx, namespace); err != nil {
		return err
	}
	if err := c.put(ctx, ns, "Role", &rbacv1.Role{ObjectMeta: managed(LearnerAccount), Rules: learnerRules()}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: managed(LearnerAccount),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: LearnerAccount},
		Subjects:   learnerSubject(),
	}
	if err := c.put(ctx, ns, "RoleBinding", binding); err != nil {
		return err
	}
	if err := c.ensurePodsCanStart(ctx, ns); err != nil {
		return err
	}
	return c.awaitRights(ctx, ns)
}

// ensureNamespace makes a namespace of ours, and waits while an old one of
// the same name is still going away.
func (c *Client) ensureNamespace(ctx context.Context, meta metav1.ObjectMeta) error {
	name := meta.Name
	op := "make namespace " + name
	want := &corev1.Namespace{ObjectMeta: meta}
	err := wait.PollUntilContextCancel(ctx, 250*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := c.typed.CoreV1().Namespaces().Create(ctx, want, metav1.CreateOptions{FieldManager: Manager})
		if err == nil {
			return true, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return false, err
		}
		have, err := c.typed.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err), err == nil && have.DeletionTimestamp != nil:
			return false, nil
		case err != nil:
			return false, err
		case have.Labels[LabelManaged] != Manager:
			return false, ErrForeign
		}
		return true, nil
	})
	return classify(op, err)
}

// ensurePodsCanStart makes the default ServiceAccount at once instead of when
// the controller comes to it, and waits for the certificate that every Pod
// mounts, so that a learner's first Pod is neither refused nor delayed.
func (c *Client) ensurePodsCanStart(ctx context.Context, ns string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := c.typed.CoreV1().ServiceAccounts(ns).Create(ctx, account, metav1.CreateOptions{FieldManager: Manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return classify("make the default ServiceAccount of "+ns, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := c.typed.CoreV1().ConfigMaps(ns).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	return classify("wait for the controller manager to set up namespace "+ns, err)
}

// awaitRights waits until the API server's authoriser has seen the new role.
func (c *Client) awaitRights(ctx context.Context, ns string) error {
	review := &authv1.SubjectAccessReview{Spec: authv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + SystemNamespace + ":" + LearnerAccount,
		ResourceAttributes: &authv1.ResourceAttributes{Namespace: ns, Verb: "create", Resource: "pods"},
	}}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 25*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		r, err := c.typed.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return r.Status.Allowed, nil
	})
	return classify("wait for the learner's rights in "+ns, err)
}

// Unprovision removes all that Provision and trials made in this cluster and
// nothing else, and waits until it is gone.
func (c *Client) Unprovision(ctx context.Context, progress func(step string)) error {
	mine := metav1.ListOptions{LabelSelector: LabelManaged + "=" + Manager}
	list, err := c.typed.CoreV1().Namespaces().List(ctx, mine)
	if err != nil {
		return classify("list podproof's namespaces", err)
	}
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.Name)
	}
	sort.Strings(names)
	for _, name := range names {
		if progress != nil {
			progress("remove namespace " + name)
		}
		if err := c.removeNamespace(ctx, name); err != nil {
			return err
		}
	}
	rbac := c.typed.RbacV1()
	if err := rbac.ClusterRoleBindings().DeleteCollection(ctx, metav1.DeleteOptions{}, mine); err != nil {
		return classify("remove the learner's ClusterRoleBinding", err)
	}
	if err := rbac.ClusterRoles().DeleteCollection(ctx, metav1.DeleteOptions{}, mine); err != nil {
		return classify("remove the learner's ClusterRole", err)
	}
	err = wait.PollUntilContextCancel(ctx, 250*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		left, err := c.typed.CoreV1().Namespaces().List(ctx, mine)
		return err == nil && len(left.Items) == 0, err
	})
	return classify("wait until podproof's namespaces are gone", err)
}

// Remove begins the removal of a namespace of ours and does not wait for its
// end. One that podproof did not make is refused with ErrForeign.
func (c *Client) Remove(ctx context.Context, namespace string) error {
	have, err := c.typed.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return classify("look at namespace "+namespace, err)
	}
	if have.Labels[LabelManaged] != Manager {
		return fmt.Errorf("remove namespace %s: %w", namespace, ErrForeign)
	}
	return c.removeNamespace(ctx, namespace)
}

// removeNamespace begins a namespace's removal. Its Pods get no grace: a
// trial or a lab that is thrown away has nothing to save, and a namespace
// waits for its slowest Pod.
func (c *Client) removeNamespace(ctx context.Context, name string) error {
	err := c.typed.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return classify("remove namespace "+name, err)
	}
	now := int64(0)
	err = c.typed.CoreV1().Pods(name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return classify("remove the Pods of "+name, err)
	}
	return nil
}

func managed(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{LabelManaged: Manager}}
}

func learnerSubject() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: SystemNamespace, Name: LearnerAccount}}
}
