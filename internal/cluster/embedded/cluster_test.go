//go:build embedded

package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/yaml"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/embedded"
)

// runnerDir makes the test binary run a cluster in that folder instead of the
// tests: a process of its own, that can be killed.
const runnerDir = "PODPROOF_TEST_RUNNER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(runnerDir); dir != "" {
		if err := runCluster(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runCluster(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := provider(dir)
	if err := p.Ensure(ctx, nil); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(os.Stdout, "ready")
	<-ctx.Done()
	return p.Close(context.Background())
}

func provider(dir string) *embedded.Provider {
	return embedded.New(embedded.Options{
		Dir: dir, Bin: filepath.Join(embedded.CacheDir(), "bin"), Images: filepath.Join(embedded.CacheDir(), "images"),
	})
}

// start runs a cluster in this process until the test ends.
func start(t *testing.T, dir string) (*embedded.Provider, *client) {
	t.Helper()
	p := provider(dir)
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	var steps []string
	if err := p.Ensure(t.Context(), func(e cluster.Event) { steps = append(steps, fmt.Sprintf("%s done=%v %v", e.Step, e.Done, e.Err)) }); err != nil {
		t.Fatalf("Ensure: %v\nsteps:\n%s", err, strings.Join(steps, "\n"))
	}
	if len(steps) < 10 {
		t.Errorf("only these steps were reported: %v", steps)
	}
	return p, connect(t, p)
}

// client is a connection to one cluster with what the tests ask of it.
type client struct {
	*kubernetes.Clientset
	config *rest.Config
}

func connect(t *testing.T, p *embedded.Provider) *client {
	t.Helper()
	b, err := p.Kubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(b)
	if err != nil {
		t.Fatal(err)
	}
	if config.Insecure {
		t.Error("the kubeconfig skips verification")
	}
	return &client{kubernetes.NewForConfigOrDie(config), config}
}

// workload is a Pod with an init container, a native sidecar that asks the
// Service by its name, and a server.
const workload = `
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
  - name: init
    image: busybox:1.36
    command: [sh, -c, "echo made-by-init > /shared/index.html"]
    volumeMounts: [{name: shared, mountPath: /shared}]
  - name: sidecar
    image: busybox:1.36
    restartPolicy: Always
    command: [sh, -c, "while :; do wget -T 2 -qO- http://web.default.svc.cluster.local/; sleep 0.2; done"]
  containers:
  - name: server
    image: nginx:1.27
    volumeMounts: [{name: shared, mountPath: /usr/share/nginx/html}]
  volumes: [{name: shared, emptyDir: {}}]
`

const service = `
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

func (c *client) apply(t *testing.T) {
	t.Helper()
	var pod corev1.Pod
	var svc corev1.Service
	if err := errors.Join(yaml.UnmarshalStrict([]byte(workload), &pod), yaml.UnmarshalStrict([]byte(service), &svc)); err != nil {
		t.Fatal(err)
	}
	_, err1 := c.CoreV1().Services("default").Create(t.Context(), &svc, metav1.CreateOptions{})
	_, err2 := c.CoreV1().Pods("default").Create(t.Context(), &pod, metav1.CreateOptions{})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
}

// waitServed waits until the sidecar of a Pod that has restarted at least so
// often gets the page by the Service's name; it is what all parts together give.
func (c *client) waitServed(t *testing.T, restarts int32) {
	t.Helper()
	eventually(t, "the Service answers", func() error {
		pod, err := c.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) == 0 || !pod.Status.ContainerStatuses[0].Ready || pod.Status.ContainerStatuses[0].RestartCount < restarts {
			return fmt.Errorf("phase %s, containers %+v, init %+v", pod.Status.Phase, pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses)
		}
		lines := int64(1)
		logs, err := c.CoreV1().Pods("default").GetLogs("web", &corev1.PodLogOptions{Container: "sidecar", TailLines: &lines}).DoRaw(t.Context())
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(logs)) != "made-by-init" {
			return fmt.Errorf("the sidecar logs %q", logs)
		}
		return nil
	})
}

func (c *client) exec(t *testing.T, container string, argv ...string) string {
	t.Helper()
	req := c.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name("web").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: argv, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	e, err := remotecommand.NewWebSocketExecutor(c.config, "GET", req.URL().String())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out, Stderr: &out}); err != nil {
		t.Fatalf("exec %v: %v: %s", argv, err, out.String())
	}
	return out.String()
}

func eventually(t *testing.T, what string, look func() error) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 90*time.Second; time.Sleep(200 * time.Millisecond) {
		if err = look(); err == nil {
			return
		}
	}
	t.Fatalf("waited in vain until %s: %v", what, err)
}

func TestPodsWorkAndAStopLeavesNothing(t *testing.T) {
	before := traces(t)
	p, c := start(t, t.TempDir())
	c.apply(t)
	c.waitServed(t, 0)
	if out := c.exec(t, "server", "curl", "-s", "http://web/"); out != "made-by-init\n" {
		t.Errorf("exec in the server, by the short name: %q", out)
	}

	nothing := func(e cluster.Event) { t.Errorf("loading images that are there did: %+v", e) }
	archives, err := filepath.Glob(filepath.Join(embedded.CacheDir(), "images", "*.tar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.LoadImages(t.Context(), archives, nothing); err != nil {
		t.Errorf("LoadImages: %v", err)
	}

	wantState(t, p, cluster.Ready)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantState(t, p, cluster.Stopped)
	if left := added(before, traces(t)); len(left) > 0 {
		t.Errorf("a stopped cluster left on the machine:\n%s", strings.Join(left, "\n"))
	}
	if err := p.Delete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, p, cluster.Absent)
}

func TestClusterComesBackAfterEverythingIsKilled(t *testing.T) {
	dir := t.TempDir()
	runner := startRunner(t, dir)
	c := connect(t, provider(dir))
	c.apply(t)
	c.waitServed(t, 0)

	// Another podproof may use the running cluster, but not remove it.
	guest := provider(dir)
	if err := guest.Ensure(t.Context(), nil); err != nil {
		t.Errorf("Ensure beside a running podproof: %v", err)
	}
	if err := guest.Close(t.Context()); err != nil {
		t.Errorf("Close beside a running podproof: %v", err)
	}
	if err := guest.Delete(t.Context(), nil); err == nil || !strings.Contains(err.Error(), fmt.Sprint(runner.Process.Pid)) {
		t.Errorf("Delete beside a running podproof: %v, want an error that names process %d", err, runner.Process.Pid)
	}

	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait()
	eventually(t, "no process of the killed cluster is left", func() error {
		if left := processes(dir); len(left) > 0 {
			return errors.New(strings.Join(left, "\n"))
		}
		return nil
	})

	p, c := start(t, dir)
	c.waitServed(t, 1)
	wantState(t, p, cluster.Ready)
}

func TestClustersSideBySideAndAComponentThatDies(t *testing.T) {
	oneDir, twoDir := t.TempDir(), t.TempDir()
	one, c1 := start(t, oneDir)
	_, c2 := start(t, twoDir)
	c1.apply(t)
	c2.apply(t)
	c1.waitServed(t, 0)
	c2.waitServed(t, 0)

	for _, name := range []string{"kube-apiserver", "containerd", "etcd", "kubelet"} {
		kill(t, oneDir, name)
		eventually(t, "the cluster is back without its "+name, func() error {
			if err := one.Ensure(t.Context(), nil); err != nil {
				return err
			}
			_, err := c1.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
			return err
		})
	}
	c1.waitServed(t, 0)
	pod, err := c1.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.RestartCount > 0 {
			t.Errorf("container %s restarted although no container was killed", s.Name)
		}
	}
	c2.waitServed(t, 0)
}

func TestUnusableMachineIsExplained(t *testing.T) {
	p := embedded.New(embedded.Options{Dir: t.TempDir(), Bin: t.TempDir(), Images: t.TempDir()})
	err := p.Ensure(t.Context(), nil)
	if err == nil {
		t.Fatal("a cluster without components was started")
	}
	for _, want := range []string{"kubernetes", "containerd", "pause", "make components"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q:\n%v", want, err)
		}
	}
}

func wantState(t *testing.T, p *embedded.Provider, want cluster.State) {
	t.Helper()
	if s, err := p.Status(t.Context()); err != nil || s.State != want {
		t.Errorf("Status = %+v, %v; want %s", s, err, want)
	}
}

// startRunner runs a cluster in a process of its own.
func startRunner(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runnerDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Asked to end, it cleans up; a test that fails leaves nothing either.
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	if _, err := io.ReadFull(out, make([]byte, len("ready"))); err != nil {
		t.Fatalf("the cluster's process ended before it was ready: %v", err)
	}
	return cmd
}

// processes lists those that live in the mount namespace of the cluster in dir,
// which shows by the folder that is mounted there.
func processes(dir string) []string {
	var found []string
	stats, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), dir+" /run/podproof ") {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found = append(found, filepath.Base(filepath.Dir(path))+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
	}
	return found
}

func kill(t *testing.T, dir, name string) {
	t.Helper()
	for _, p := range processes(dir) {
		f := strings.Fields(p)
		if len(f) < 2 || f[1] != name {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(f[0], &pid); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no process %s in the cluster of %s", name, dir)
}

// traces are what a cluster could leave on the machine: mounts, links,
// firewall rules, control groups.
func traces(t *testing.T) []string {
	t.Helper()
	var found []string
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := exec.Command("iptables-save").Output()
	if err != nil {
		t.Fatalf("iptables-save: %v", err)
	}
	for line := range strings.Lines(string(mounts) + string(rules)) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ":") { // times and counters
			found = append(found, strings.TrimSpace(line))
		}
	}
	for _, pattern := range []string{"/sys/class/net/*", "/sys/fs/cgroup/podproof*", "/sys/fs/cgroup/*/podproof*", "/run/netns/*"} {
		paths, _ := filepath.Glob(pattern)
		found = append(found, paths...)
	}
	return found
}

func added(before, after []string) []string {
	return slices.DeleteFunc(after, func(s string) bool { return slices.Contains(before, s) })
}
