//go:build cluster

package kube_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/labs"
)

// admin is an administrator's config of the test cluster.
func admin(t *testing.T) *rest.Config {
	t.Helper()
	path := os.Getenv("PODPROOF_TEST_KUBECONFIG")
	if path == "" {
		t.Fatal("PODPROOF_TEST_KUBECONFIG names no kubeconfig; it is set by make test")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// bench is a namespace of a test's own with the means to look at it.
type bench struct {
	*kube.Client
	typed     kubernetes.Interface
	namespace string
	ctx       context.Context
}

func newBench(t *testing.T, opts ...kube.Option) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	config := admin(t)
	client, err := kube.New(config, opts...)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Client: client, typed: typed, namespace: "kube-test-" + random(), ctx: ctx}
	if err := client.Provision(ctx, []string{b.namespace}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := client.Remove(ctx, b.namespace); err != nil {
			t.Error(err)
		}
	})
	return b
}

func random() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// apply applies a manifest and waits until the named Pods are ready.
func (b *bench) apply(t *testing.T, manifest string, pods ...string) {
	t.Helper()
	if err := b.Apply(b.ctx, b.namespace, manifest); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		waitFor(t, b.ctx, pod+" is ready", func() bool {
			p, err := b.typed.CoreV1().Pods(b.namespace).Get(b.ctx, pod, metav1.GetOptions{})
			return err == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})
		})
	}
}

func waitFor(t *testing.T, ctx context.Context, what string, done func() bool) {
	t.Helper()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const webPod = `
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - {name: web, image: "nginx:1.27"}
  - {name: box, image: "busybox:1.36", command: [sh, -c, "echo started; exec sleep 3600"]}
`

const webService = `
apiVersion: v1
kind: Service
metadata: {name: site}
spec: {selector: {app: web}, ports: [{port: 8080, targetPort: 80}]}
`

func TestASnapshotHoldsWhatWasAskedForAndNoManagedFields(t *testing.T) {
	b := newBench(t)
	b.apply(t, webPod+"---"+webService)
	s, err := b.Snapshot(b.ctx, b.namespace, []grader.Kind{grader.KindPod, grader.KindService, grader.KindConfigMap})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pods) != 1 || len(s.Services) != 1 || len(s.ConfigMaps) != 1 || s.Secrets != nil {
		t.Errorf("snapshot has %d Pods, %d Services, %d ConfigMaps, Secrets %v", len(s.Pods), len(s.Services), len(s.ConfigMaps), s.Secrets)
	}
	if len(s.Pods[0].ManagedFields) > 0 {
		t.Error("managedFields are kept")
	}
	if d := time.Since(s.Taken); d < -time.Second || d > 5*time.Second {
		t.Errorf("taken %s ago", d)
	}
	if _, err := b.Snapshot(b.ctx, b.namespace, []grader.Kind{"Gizmo"}); err == nil {
		t.Error("an unknown kind is listed")
	}
}

func TestAnObjectInTheWrongLabIsFound(t *testing.T) {
	other := newBench(t)
	other.apply(t, webService)
	b := newBench(t, kube.WithSiblings(func(ns string) []string { return []string{ns, other.namespace} }))
	got, err := b.Elsewhere(b.ctx, b.namespace, grader.KindService, "site")
	if err != nil || !slices.Equal(got, []string{other.namespace}) {
		t.Errorf("Elsewhere = %v, %v", got, err)
	}
	if got, err := b.Elsewhere(b.ctx, b.namespace, grader.KindPod, "web"); err != nil || len(got) > 0 {
		t.Errorf("Elsewhere of an object that is nowhere = %v, %v", got, err)
	}
}

func TestProbes(t *testing.T) {
	b := newBench(t)
	b.apply(t, webPod+"---"+webService, "web")
	pod := grader.PodRef{Namespace: b.namespace, Name: "web"}

	t.Run("log", func(t *testing.T) {
		got, err := b.Logs(b.ctx, pod, "box", false, 1000)
		if err != nil || got != "started\n" {
			t.Errorf("Logs = %q, %v", got, err)
		}
	})
	t.Run("log of a run that never was", func(t *testing.T) {
		got, err := b.Logs(b.ctx, pod, "box", true, 1000)
		if err != nil || got != "" {
			t.Errorf("Logs = %q, %v", got, err)
		}
	})
	t.Run("log of no Pod", func(t *testing.T) {
		if _, err := b.Logs(b.ctx, grader.PodRef{Namespace: b.namespace, Name: "none"}, "box", false, 1000); !errors.Is(err, kube.ErrNotFound) {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("a log's tail is bound", func(t *testing.T) {
		if _, err := b.Exec(b.ctx, pod, "box", []string{"sh", "-c", "seq 1 200000 >/proc/1/fd/1"}); err != nil {
			t.Fatal(err)
		}
		waitFor(t, b.ctx, "the log has its last line", func() bool {
			got, err := b.Logs(b.ctx, pod, "box", false, 100)
			return err == nil && len(got) <= 100 && strings.HasSuffix(got, "\n199999\n200000\n")
		})
	})
	t.Run("exec", func(t *testing.T) {
		got, err := b.Exec(b.ctx, pod, "box", []string{"sh", "-c", "echo out; echo err >&2; exit 3"})
		if err != nil || got != (grader.ExecResult{Code: 3, Stdout: "out\n", Stderr: "err\n"}) {
			t.Errorf("Exec = %+v, %v", got, err)
		}
	})
	t.Run("exec of a program that is not there", func(t *testing.T) {
		for _, program := range []string{"gizmo", "/bin/gizmo"} {
			if _, err := b.Exec(b.ctx, pod, "box", []string{program}); !errors.Is(err, grader.ErrNoShell) {
				t.Errorf("Exec of %s: error = %v", program, err)
			}
		}
	})
	t.Run("exec that hangs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(b.ctx, time.Second)
		defer cancel()
		began := time.Now()
		_, err := b.Exec(ctx, pod, "box", []string{"sleep", "60"})
		if !errors.Is(err, kube.ErrTimeout) || time.Since(began) > 5*time.Second {
			t.Errorf("error = %v after %s", err, time.Since(began))
		}
	})
	t.Run("exec that floods", func(t *testing.T) {
		got, err := b.Exec(b.ctx, pod, "box", []string{"sh", "-c", "yes | head -c 5000000; exit 2"})
		if err != nil || got.Code != 2 || len(got.Stdout) != 256<<10 {
			t.Errorf("Exec: code %d, %d bytes, %v", got.Code, len(got.Stdout), err)
		}
	})
	for name, test := range map[string]struct {
		container, url string
		want           func(grader.GetResult) bool
	}{
		"localhost":            {"box", "http://localhost/", func(r grader.GetResult) bool { return r.Status == 200 && strings.Contains(r.Body, "nginx") }},
		"localhost, not found": {"box", "http://127.0.0.1:80/none", func(r grader.GetResult) bool { return r.Status == 404 }},
		"localhost, refused":   {"box", "http://localhost:81/", func(r grader.GetResult) bool { return r.Status == 0 && r.Failed == "connection refused" }},
		"a Service from busybox": {"box", "http://site:8080/", func(r grader.GetResult) bool {
			return r.Status == 200 && strings.Contains(r.Body, "nginx")
		}},
		"a Service, not found":  {"box", "http://site:8080/none", func(r grader.GetResult) bool { return r.Status == 404 }},
		"a Service that is not": {"box", "http://nobody:8080/", func(r grader.GetResult) bool { return r.Status == 0 && r.Failed != "" }},
	} {
		t.Run("get "+name, func(t *testing.T) {
			got, err := b.Get(b.ctx, pod, test.container, test.url)
			if err != nil || !test.want(got) {
				t.Errorf("Get = %+v, %v", got, err)
			}
		})
	}
	t.Run("get that is never answered", func(t *testing.T) {
		if _, err := b.Exec(b.ctx, pod, "box", []string{"sh", "-c", "nohup nc -l -p 9000 >/dev/null 2>&1 &"}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
		defer cancel()
		began := time.Now()
		got, err := b.Get(ctx, pod, "box", "http://localhost:9000/")
		if err != nil || got.Failed == "" || time.Since(began) > 5*time.Second {
			t.Errorf("Get = %+v, %v after %s", got, err, time.Since(began))
		}
	})
}

func TestProvisionIsIdempotentAndTheLearnerCanWorkThere(t *testing.T) {
	b := newBench(t)
	if err := b.Provision(b.ctx, []string{b.namespace}, nil); err != nil {
		t.Fatalf("a second run: %v", err)
	}
	raw, err := b.LearnerKubeconfig(b.ctx, []string{b.namespace, "other"}, b.namespace)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.LearnerKubeconfig(b.ctx, []string{b.namespace, "other"}, b.namespace)
	if err != nil || !bytes.Equal(again, raw) {
		t.Errorf("a second kubeconfig differs, %v", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil {
		t.Fatal(err)
	}
	learner, err := kube.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := learner.Replace(b.ctx, b.namespace, webPod+"---"+webService); err != nil {
		t.Errorf("the learner's own namespace: %v", err)
	}
	if err := learner.Apply(b.ctx, "default", webService); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("the learner writes elsewhere: %v", err)
	}
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: more}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
	if err := learner.Apply(b.ctx, b.namespace, role); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("the learner takes more rights: %v", err)
	}
	if _, err := learner.Snapshot(b.ctx, kube.SystemNamespace, []grader.Kind{grader.KindSecret}); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("the learner reads podproof's secrets: %v", err)
	}
}

func TestANamespaceOfSomebodyElseIsLeftAlone(t *testing.T) {
	b := newBench(t)
	name := "kube-test-foreign-" + random()
	if _, err := b.typed.CoreV1().Namespaces().Create(b.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.typed.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	if err := b.Provision(b.ctx, []string{name}, nil); !errors.Is(err, kube.ErrForeign) {
		t.Errorf("Provision: %v", err)
	}
	if err := b.Remove(b.ctx, name); !errors.Is(err, kube.ErrForeign) {
		t.Errorf("Remove: %v", err)
	}
}

func TestApplySaysWhyItIsRefused(t *testing.T) {
	b := newBench(t)
	b.apply(t, webPod)
	for name, test := range map[string]struct {
		manifest string
		want     error
	}{
		"an unknown field":   {strings.Replace(webPod, "spec:", "spec:\n  gizmo: true", 1), kube.ErrRefused},
		"an unknown kind":    {"{apiVersion: v1, kind: Gizmo, metadata: {name: x}}", kube.ErrRefused},
		"a value":            {strings.Replace(strings.Replace(webPod, "name: web,", "name: two,", 1), "spec:", "spec:\n  restartPolicy: Sometimes", 1), kube.ErrRefused},
		"an immutable field": {strings.Replace(webPod, "spec:", "spec:\n  hostname: other", 1), kube.ErrImmutable},
		"another namespace":  {strings.Replace(webPod, "name: web,", "name: web, namespace: default,", 1), kube.ErrRefused},
		"no YAML":            {"a: [", kube.ErrRefused},
	} {
		if err := b.Apply(b.ctx, b.namespace, test.manifest); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestReplaceRecreatesWhatCannotBeChanged(t *testing.T) {
	b := newBench(t)
	b.apply(t, webPod)
	if err := b.Replace(b.ctx, b.namespace, strings.Replace(webPod, "spec:", "spec:\n  hostname: other", 1)); err != nil {
		t.Fatal(err)
	}
	p, err := b.typed.CoreV1().Pods(b.namespace).Get(b.ctx, "web", metav1.GetOptions{})
	if err != nil || p.Spec.Hostname != "other" {
		t.Errorf("hostname = %q, %v", p.Spec.Hostname, err)
	}
}

func TestResetLeadsBackToTheStartAndLeavesOthersAlone(t *testing.T) {
	b := newBench(t)
	const setup = `
apiVersion: v1
kind: ConfigMap
metadata: {name: start}
data: {a: "1"}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "busybox:1.36", command: [sleep, "600"]}]}}}}
`
	b.apply(t, setup)
	b.apply(t, `
apiVersion: v1
kind: Pod
metadata: {name: stubborn, finalizers: [podproof.dev/test]}
spec:
  terminationGracePeriodSeconds: 600
  containers: [{name: a, image: "busybox:1.36", command: [sh, -c, "trap : TERM; while :; do sleep 1; done"]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: 2
  selector: {matchLabels: {app: many}}
  template: {metadata: {labels: {app: many}}, spec: {terminationGracePeriodSeconds: 600, containers: [{name: a, image: "busybox:1.36", command: [sleep, "600"]}]}}
---
`+webPod, "stubborn", "web")
	cron, err := b.typed.BatchV1().CronJobs(b.namespace).Get(b.ctx, "tick", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	manual := fmt.Sprintf("{apiVersion: batch/v1, kind: Job, metadata: {name: by-hand, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: tick, uid: %s}]}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: \"busybox:1.36\", command: [sleep, \"600\"]}]}}}}", cron.UID)
	b.apply(t, manual)
	b.apply(t, strings.Replace(setup, `a: "1"`, `a: "2"`, 1))

	objects := []labs.ObjectRef{
		{APIVersion: "v1", Kind: "Pod", Name: "stubborn"}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "many"},
		{APIVersion: "v1", Kind: "Service", Name: "never-was"},
	}
	began := time.Now()
	for range 2 { // the second run comes to the same
		if err := b.Reset(b.ctx, b.namespace, objects, setup); err != nil {
			t.Fatal(err)
		}
		s, err := b.Snapshot(b.ctx, b.namespace, []grader.Kind{grader.KindPod, grader.KindJob, grader.KindReplicaSet, grader.KindDeployment, grader.KindCronJob, grader.KindConfigMap})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Pods) != 1 || s.Pods[0].Name != "web" {
			t.Errorf("%d Pods are left, want only web of the other task", len(s.Pods))
		}
		if len(s.Jobs)+len(s.ReplicaSets)+len(s.Deployments) > 0 || len(s.CronJobs) != 1 {
			t.Errorf("left: %d Jobs, %d ReplicaSets, %d Deployments, %d CronJobs", len(s.Jobs), len(s.ReplicaSets), len(s.Deployments), len(s.CronJobs))
		}
		i := slices.IndexFunc(s.ConfigMaps, func(c corev1.ConfigMap) bool { return c.Name == "start" })
		if i < 0 || s.ConfigMaps[i].Data["a"] != "1" {
			t.Error("the ConfigMap is not as at the start")
		}
	}
	if d := time.Since(began); d > 40*time.Second {
		t.Errorf("two resets took %s", d)
	}
}

func TestATrialSeesTheBackendOfTheOriginalAndIsRemoved(t *testing.T) {
	b := newBench(t)
	b.apply(t, webPod+"---"+webService+`
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {address: "site.`+b.namespace+`.svc:8080"}
---
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  terminationGracePeriodSeconds: 5
  initContainers: [{name: first, image: "busybox:1.36", command: ["true"]}]
  containers:
  - name: app
    image: busybox:1.36
    command: [sh, -c, "trap 'exit 7' TERM; while :; do wget -qO- http://$ADDRESS | head -n 1; sleep 1; done"]
    env: [{name: ADDRESS, valueFrom: {configMapKeyRef: {name: conf, key: address}}}]
`, "web", "app")
	original, err := b.typed.CoreV1().Pods(b.namespace).Get(b.ctx, "app", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := b.Scratch(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = scratch.Close() }()
	if err := scratch.CopyNeeds(b.ctx, b.namespace, &original.Spec); err != nil {
		t.Fatal(err)
	}
	changes, err := scratch.Watch(b.ctx, "app")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scratch.CreatePod(b.ctx, original); err != nil {
		t.Fatal(err)
	}
	copied := grader.PodRef{Namespace: scratch.Namespace(), Name: "app"}
	waitFor(t, b.ctx, "the copy gets an answer", func() bool {
		log, err := scratch.Logs(b.ctx, copied, "app", false, 1000)
		return err == nil && strings.Contains(strings.ToLower(log), "doctype")
	})
	// The answer must come from the copy of the backend, not from the original.
	if err := scratch.DeleteService(b.ctx, "site"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, b.ctx, "the copy gets no answer any more", func() bool {
		got, err := scratch.Get(b.ctx, copied, "app", "http://site:8080/")
		return err == nil && got.Status == 0
	})
	if err := scratch.DeletePod(b.ctx, "app"); err != nil {
		t.Fatal(err)
	}
	var told []string
	for c := range changes {
		told = append(told, strings.TrimSpace(c.Container+" "+c.State))
		if c.Container == "app" && c.State == "terminated" && (c.ExitCode == nil || *c.ExitCode != 7) {
			t.Errorf("the copy's end: %+v", c)
		}
	}
	last := -1
	for _, want := range []string{"first terminated", "app running", "app ready", "deleting", "app terminated", "deleted"} {
		i := slices.Index(told, want)
		if i <= last {
			t.Fatalf("%q does not follow in %q", want, told)
		}
		last = i
	}

	if err := scratch.Close(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, b.ctx, "the scratch namespace is gone", func() bool {
		_, err := b.typed.CoreV1().Namespaces().Get(b.ctx, scratch.Namespace(), metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestTheRecorderOutlivesWhatItSaw(t *testing.T) {
	history := kube.NewMemory(1000)
	b := newBench(t, kube.WithHistory(history))
	recorder := kube.NewRecorder(b.Client, func(ns string) bool { return ns == b.namespace }, history, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(b.ctx)
	done := make(chan struct{})
	go func() { recorder.Run(ctx); close(done) }()
	if err := recorder.WaitSynced(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.apply(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: brief}
spec:
  ttlSecondsAfterFinished: 0
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: "busybox:1.36", command: [sh, -c, "exit 0"]}]}}
`)
	var s *grader.Snapshot
	waitFor(t, b.ctx, "the Job was removed by its TTL", func() bool {
		var err error
		s, err = b.Snapshot(b.ctx, b.namespace, []grader.Kind{grader.KindJob})
		return err == nil && len(s.Jobs) == 0 && slices.ContainsFunc(s.History, func(c grader.Change) bool {
			return c.Object == "Job/brief" && c.State == "deleted"
		})
	})
	for _, want := range []string{"Job/brief Complete", "Pod running", "Pod terminated"} {
		if !slices.ContainsFunc(s.History, func(c grader.Change) bool {
			object := c.Object
			if c.Owner == "Job/brief" {
				object = "Pod"
			}
			return object+" "+c.State == want
		}) {
			t.Errorf("%q was not recorded in %+v", want, s.History)
		}
	}
	stop()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("the recorder does not end with its context")
	}
}

func TestACallThatIsCutOffSaysSo(t *testing.T) {
	config := rest.CopyConfig(admin(t))
	config.Host = "https://127.0.0.1:1"
	client, err := kube.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Snapshot(t.Context(), "x", []grader.Kind{grader.KindPod}); !errors.Is(err, kube.ErrUnreachable) {
		t.Errorf("no API server: %v", err)
	}
	nobody := rest.AnonymousClientConfig(admin(t))
	nobody.BearerToken = "wrong"
	if client, err = kube.New(nobody); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Snapshot(t.Context(), "x", []grader.Kind{grader.KindPod}); !errors.Is(err, kube.ErrForbidden) {
		t.Errorf("wrong token: %v", err)
	}
}
