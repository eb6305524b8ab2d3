//go:build kind

package kind_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	podproof "github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/health"
	"github.com/podproof/podproof/internal/cluster/kind"
)

// TestLifecycle lives with one cluster, for making one is slow: the parts
// stand in their order and each builds on what the one before left.
func TestLifecycle(t *testing.T) {
	const name = "lifecycle"
	p, lockDir := provider(t, name)

	t.Run("a crash leaves it half-made", func(t *testing.T) {
		victim := startVictim(t, name, lockDir, "control-plane")
		killAll(t, victim)
		status(t, p, podproof.Broken)
	})
	t.Run("what was half-made is made anew", func(t *testing.T) {
		l := newLog(t)
		if err := p.Ensure(t.Context(), l.progress); err != nil {
			t.Fatal(err)
		}
		for _, step := range []string{"remove-half-made", "node-image", "node-containers", "control-plane", "node-ready", "images"} {
			if !l.began(step) {
				t.Errorf("no event of step %s", step)
			}
		}
		ready := status(t, p, podproof.Ready)
		t.Logf("ready: Kubernetes %s; %s", ready.Version, ready.Detail)
	})
	if t.Failed() {
		t.FailNow()
	}
	api := client(t, p)
	t.Run("a Pod with init containers runs with the loaded image", func(t *testing.T) {
		if got, want := runPod(t, api), "one\ntwo\n"; got != want {
			t.Errorf("the Pod printed %q, want %q", got, want)
		}
	})
	t.Run("Ensure again changes nothing", func(t *testing.T) {
		before := runtime(t, "ps", "--all", "--quiet", "--no-trunc")
		l := newLog(t)
		if err := p.Ensure(t.Context(), l.progress); err != nil {
			t.Fatal(err)
		}
		t.Logf("took %.1fs", time.Since(l.start).Seconds())
		for _, step := range []string{"node-containers", "start", "restart", "remove-half-made"} {
			if l.began(step) {
				t.Errorf("step %s ran", step)
			}
		}
		if after := runtime(t, "ps", "--all", "--quiet", "--no-trunc"); after != before {
			t.Errorf("containers changed from %s to %s", before, after)
		}
	})
	t.Run("a stopped cluster is started with what is in it", func(t *testing.T) {
		runtime(t, "stop", name+"-control-plane")
		status(t, p, podproof.Stopped)
		l := newLog(t)
		if err := p.Ensure(t.Context(), l.progress); err != nil {
			t.Fatal(err)
		}
		if !l.began("start") {
			t.Error("no event tells of the start")
		}
		status(t, p, podproof.Ready)
		// The API server's port on this machine may be another now.
		if _, err := client(t, p).CoreV1().Pods("default").Get(t.Context(), "ordered", metav1.GetOptions{}); err != nil {
			t.Errorf("the Pod from before: %v", err)
		}
	})
	t.Run("delete leaves nothing", func(t *testing.T) {
		start := time.Now()
		if err := p.Delete(t.Context(), newLog(t).progress); err != nil {
			t.Fatal(err)
		}
		t.Logf("took %.1fs", time.Since(start).Seconds())
		nothingLeft(t, p, name, lockDir)
	})
}

func client(t *testing.T, p *kind.Provider) *kubernetes.Clientset {
	t.Helper()
	kubeconfig, err := p.Kubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config, err := health.Config(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runPod runs a Pod whose init containers leave marks in order and returns
// what its main container reads of them.
func runPod(t *testing.T, c *kubernetes.Clientset) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	container := func(name, script string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "busybox:1.36", ImagePullPolicy: corev1.PullNever,
			Command:      []string{"sh", "-c", script},
			VolumeMounts: []corev1.VolumeMount{{Name: "marks", MountPath: "/marks"}},
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "ordered"},
		Spec: corev1.PodSpec{
			RestartPolicy:  corev1.RestartPolicyNever,
			InitContainers: []corev1.Container{container("first", "echo one >>/marks/all"), container("second", "echo two >>/marks/all")},
			Containers:     []corev1.Container{container("main", "cat /marks/all")},
			Volumes:        []corev1.Volume{{Name: "marks", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
	pods := c.CoreV1().Pods("default")
	for {
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		if err == nil {
			break
		}
		// The namespace's ServiceAccount may follow a moment after the node.
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "serviceaccount") || ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		got, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		switch got.Status.Phase {
		case corev1.PodSucceeded:
			t.Logf("ran in %.1fs", time.Since(start).Seconds())
			logs, err := pods.GetLogs(pod.Name, &corev1.PodLogOptions{Container: "main"}).Stream(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer logs.Close()
			text, err := io.ReadAll(logs)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		case corev1.PodFailed:
			t.Fatalf("the Pod failed: %+v", got.Status)
		}
	}
}
