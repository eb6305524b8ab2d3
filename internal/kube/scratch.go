package kube

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/podproof/podproof/grader"
)

const (
	annotationOwner = "podproof.dev/owner" // "HOST/PID" of the process that trials
	annotationUntil = "podproof.dev/until"
	// scratchLife is far more than a trial takes.
	scratchLife = 15 * time.Minute
	closeTime   = 15 * time.Second
)

// scratch is a namespace for one trial.
type scratch struct {
	*Client
	namespace string
	// origins are namespaces that something was copied from, with the names of
	// the Services that now exist here too.
	origins map[string][]string
}

var _ grader.Scratch = (*scratch)(nil)

// Scratch makes an empty namespace, bounded by a quota on the number of its
// objects. There is no LimitRange: its defaults would change the copies.
func (c *Client) Scratch(ctx context.Context) (grader.Scratch, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "podproof-scratch-",
		Labels:       map[string]string{LabelManaged: Manager, LabelScratch: ""},
		Annotations:  ownership(),
	}}
	made, err := c.typed.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{FieldManager: Manager})
	if err != nil {
		return nil, classify("make a scratch namespace", err)
	}
	s := &scratch{Client: c, namespace: made.Name, origins: map[string][]string{}}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.ensurePodsCanStart(gctx, s.namespace) })
	g.Go(func() error {
		_, err := c.typed.CoreV1().ResourceQuotas(s.namespace).Create(gctx, scratchQuota(), metav1.CreateOptions{FieldManager: Manager})
		return classify("set the quota of "+s.namespace, err)
	})
	if err := g.Wait(); err != nil {
		return nil, joined(err, s.Close())
	}
	return s, nil
}

// ownership is what Sweep goes by.
func ownership() map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return map[string]string{
		annotationOwner: host + "/" + strconv.Itoa(os.Getpid()),
		annotationUntil: time.Now().Add(scratchLife).UTC().Format(time.RFC3339),
	}
}

func scratchQuota() *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: managed("podproof"),
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourcePods:     resource.MustParse("30"),
			corev1.ResourceServices: resource.MustParse("20"),
			"count/jobs.batch":      resource.MustParse("10"),
		}},
	}
}

// Namespace implements grader.Scratch.
func (s *scratch) Namespace() string { return s.namespace }

// Close removes the namespace; it does not wait until it is gone.
func (s *scratch) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return s.removeNamespace(ctx, s.namespace)
}

// CopyNeeds implements grader.Scratch.
func (s *scratch) CopyNeeds(ctx context.Context, from string, spec *corev1.PodSpec) error {
	w, err := s.world(ctx, from)
	if err != nil {
		return err
	}
	n := w.need(spec)
	for name := range n.services {
		s.origins[from] = append(s.origins[from], name)
	}
	core := s.typed.CoreV1()
	for name := range n.accounts {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := ensure(ctx, "ServiceAccount/"+name, core.ServiceAccounts(s.namespace).Create, account); err != nil {
			return err
		}
	}
	for name, cm := range n.configMaps {
		c := &corev1.ConfigMap{ObjectMeta: copyMeta(cm.ObjectMeta), Data: map[string]string{}, BinaryData: cm.BinaryData}
		for k, v := range cm.Data {
			c.Data[k] = s.rehomed(v)
		}
		if err := ensure(ctx, "ConfigMap/"+name, core.ConfigMaps(s.namespace).Create, c); err != nil {
			return err
		}
	}
	for name, secret := range n.secrets {
		c := &corev1.Secret{ObjectMeta: copyMeta(secret.ObjectMeta), Type: secret.Type, Data: secret.Data}
		if err := ensure(ctx, "Secret/"+name, core.Secrets(s.namespace).Create, c); err != nil {
			return err
		}
	}
	for name, service := range n.services {
		if err := ensure(ctx, "Service/"+name, core.Services(s.namespace).Create, copyService(service)); err != nil {
			return err
		}
	}
	for _, pod := range n.pods {
		if _, err := s.CreatePod(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	for _, d := range n.deployments {
		if _, err := s.CreateDeployment(ctx, d); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func (c *Client) world(ctx context.Context, namespace string) (*world, error) {
	s, err := c.Snapshot(ctx, namespace, []grader.Kind{
		grader.KindConfigMap, grader.KindSecret, grader.KindService,
		grader.KindPod, grader.KindReplicaSet, grader.KindDeployment,
	})
	if err != nil {
		return nil, err
	}
	return &world{
		configMaps: byName(s.ConfigMaps), secrets: byName(s.Secrets), services: byName(s.Services),
		pods: s.Pods, replicaSets: s.ReplicaSets, deployments: byName(s.Deployments),
	}, nil
}

func byName[T any, P object[T]](items []T) map[string]P {
	m := make(map[string]P, len(items))
	for i := range items {
		m[P(&items[i]).GetName()] = &items[i]
	}
	return m
}

// CreatePod creates a copy of pod here: without identity, ownership and what
// the cluster had added, so that an object read from the API will do.
func (s *scratch) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	c := copyPod(pod)
	s.rehome(&c.Spec)
	return create(ctx, "Pod/"+c.Name, s.typed.CoreV1().Pods(s.namespace).Create, c)
}

// CreateJob is CreatePod for a Job.
func (s *scratch) CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	c := copyJob(job)
	s.rehome(&c.Spec.Template.Spec)
	return create(ctx, "Job/"+c.Name, s.typed.BatchV1().Jobs(s.namespace).Create, c)
}

// CreateDeployment is CreatePod for a Deployment.
func (s *scratch) CreateDeployment(ctx context.Context, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	c := copyDeployment(d)
	s.rehome(&c.Spec.Template.Spec)
	return create(ctx, "Deployment/"+c.Name, s.typed.AppsV1().Deployments(s.namespace).Create, c)
}

// DeletePod deletes with the Pod's own grace period.
func (s *scratch) DeletePod(ctx context.Context, name string) error {
	err := s.typed.CoreV1().Pods(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return classify("delete Pod/"+name, err)
}

// DeleteService deletes at once.
func (s *scratch) DeleteService(ctx context.Context, name string) error {
	err := s.typed.CoreV1().Services(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return classify("delete Service/"+name, err)
}

// rehome points addresses that name the original's namespace at this one, or
// a copy would go on talking to the learner's own backend.
func (s *scratch) rehome(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c := &list[i]
			for j := range c.Command {
				c.Command[j] = s.rehomed(c.Command[j])
			}
			for j := range c.Args {
				c.Args[j] = s.rehomed(c.Args[j])
			}
			for j := range c.Env {
				c.Env[j].Value = s.rehomed(c.Env[j].Value)
			}
		}
	}
}

func (s *scratch) rehomed(text string) string {
	for from, services := range s.origins {
		for _, service := range services {
			text = rehome(text, service, from, s.namespace)
		}
	}
	return text
}

// rehome rewrites SERVICE.FROM, where FROM is a whole label, to SERVICE.TO.
func rehome(text, service, from, to string) string {
	old := service + "." + from
	var b strings.Builder
	for {
		i := strings.Index(text, old)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(old)
		whole := (i == 0 || !isNameByte(text[i-1])) && (end == len(text) || !isNameByte(text[end]))
		b.WriteString(text[:i])
		if whole {
			b.WriteString(service + "." + to)
		} else {
			b.WriteString(old)
		}
		text = text[end:]
	}
}

func isNameByte(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// create creates one object. A new namespace's quota and ServiceAccount take
// a moment to be known to the API server, which forbids Pods until then.
func create[P metav1.Object](ctx context.Context, name string, do func(context.Context, P, metav1.CreateOptions) (P, error), o P) (P, error) {
	var made P
	short, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(short, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		made, last = do(ctx, o, metav1.CreateOptions{FieldManager: Manager})
		if apierrors.IsForbidden(last) && (strings.Contains(last.Error(), "status unknown for quota") || strings.Contains(last.Error(), "error looking up service account")) {
			return false, nil
		}
		return last == nil, last
	})
	if err != nil && ctx.Err() == nil && last != nil {
		err = last
	}
	return made, classify("create "+name, err)
}

// ensure is create for an object that may exist already.
func ensure[P metav1.Object](ctx context.Context, name string, do func(context.Context, P, metav1.CreateOptions) (P, error), o P) error {
	_, err := create(ctx, name, do, o)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Sweep removes scratch namespaces that a crash left: those whose time is up,
// and those of a process of this machine that has ended. Trials of another
// process that still runs are left alone.
func (c *Client) Sweep(ctx context.Context) error {
	list, err := c.typed.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: LabelScratch})
	if err != nil {
		return classify("list scratch namespaces", err)
	}
	for i := range list.Items {
		ns := &list.Items[i]
		if ns.DeletionTimestamp != nil || !abandoned(ns, time.Now()) {
			continue
		}
		if err := c.removeNamespace(ctx, ns.Name); err != nil {
			return err
		}
	}
	return nil
}

func abandoned(ns *corev1.Namespace, now time.Time) bool {
	until, err := time.Parse(time.RFC3339, ns.Annotations[annotationUntil])
	if err != nil || now.After(until) {
		return true
	}
	owner, pid, _ := strings.Cut(ns.Annotations[annotationOwner], "/")
	host, err := os.Hostname()
	if err != nil || owner != host {
		return false
	}
	n, err := strconv.Atoi(pid)
	return err != nil || !alive(n)
}

// alive tells whether a process of this machine exists, whoever owns it.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}

func joined(err, second error) error {
	if second == nil {
		return err
	}
	return fmt.Errorf("%w; and then: %w", err, second)
}
