package kind

import (
	"archive/tar"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	podproof "github.com/podproof/podproof/internal/cluster"
)

// The test binary is its own helper process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "internal" && os.Args[2] == "kind-create" {
		os.Exit(RunHelper(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestBuildConfig(t *testing.T) {
	const head = "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n"
	mark := map[string]string{Label: "podproof"}
	tests := []struct {
		name, raw string
		want      []v1alpha4.Node
		wantErr   string
	}{
		{"nothing given", "", []v1alpha4.Node{{Role: "control-plane", Image: "img", Labels: mark}}, ""},
		{"only blanks", " \n", []v1alpha4.Node{{Role: "control-plane", Image: "img", Labels: mark}}, ""},
		{
			"a node's own image and labels stay", head + "nodes: [{role: control-plane}, {role: worker, image: mine, labels: {tier: a}}]",
			[]v1alpha4.Node{
				{Role: "control-plane", Image: "img", Labels: mark},
				{Role: "worker", Image: "mine", Labels: map[string]string{Label: "podproof", "tier": "a"}},
			}, "",
		},
		{"a forged label is overwritten", head + "nodes: [{labels: {" + Label + ": other}}]", []v1alpha4.Node{{Image: "img", Labels: mark}}, ""},
		{"same name", head + "name: podproof", []v1alpha4.Node{{Role: "control-plane", Image: "img", Labels: mark}}, ""},
		{"other name", head + "name: else", nil, `it names the cluster "else", but podproof's is "podproof"`},
		{"unknown field", head + "node: []", nil, "line 3: field node not found"},
		{"wrong version", "apiVersion: kind.x-k8s.io/v1alpha3\nkind: Cluster", nil, "want \"kind.x-k8s.io/v1alpha4\""},
		{"wrong type", head + "nodes: 3", nil, "line 3"},
		{"two documents", head + "---\n" + head, nil, "more than one YAML document"},
		{"no YAML", "{", nil, "kind configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := buildConfig([]byte(tt.raw), "podproof", "img")
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error is %v, want one that says %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Nodes); diff != "" {
				t.Error(diff)
			}
			if got.Name != "podproof" {
				t.Errorf("name is %q", got.Name)
			}
		})
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"name":          {Name: "Pod Proof"},
		"name too long": {Name: strings.Repeat("x", 51)},
		"runtime":       {Runtime: "lxc"},
		"config":        {Config: []byte("kind: Pod")},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: New took it", name)
		}
	}
}

func TestClassifyReadsWhatRuntimesSay(t *testing.T) {
	tests := []struct {
		runtime  Runtime
		says     string
		want     Reason
		wantHelp string
	}{
		{Docker, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", NotRunning, "systemctl start docker"},
		{Docker, "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/containers/json\": dial unix /var/run/docker.sock: connect: permission denied", NoPermission, "usermod -aG docker"},
		{Docker, "error during connect: Get \"http://build:2375/v1.50/containers/json\": dial tcp: lookup build on 10.0.0.2:53: no such host", NotRunning, "DOCKER_HOST"},
		{Docker, "error during connect: this error may indicate that the docker daemon is not running: open //./pipe/docker_engine: The system cannot find the file specified.", NotRunning, "Docker Desktop"},
		{Docker, "Error response from daemon: client version 1.50 is too new. Maximum supported API version is 1.41", Unusable, "docker info"},
		{Podman, "Cannot connect to Podman. Please verify your connection to the Linux system using `podman system connection list`", NotRunning, "podman machine start"},
		{Podman, "Error: creating runtime static files directory: mkdir /var/lib/containers: permission denied", NoPermission, "podman info"},
		{Nerdctl, "cannot access containerd socket \"/run/containerd/containerd.sock\" (hint: try running with `--address`): no such file or directory", NotRunning, "systemctl start containerd"},
		{Nerdctl, "rootless containerd not running? (hint: use `containerd-rootless-setuptool.sh install`)", NotRunning, "containerd-rootless"},
		{Nerdctl, "dial unix /run/containerd/containerd.sock: connect: permission denied", NoPermission, "as root"},
	}
	for _, tt := range tests {
		got := classify(tt.runtime, tt.says+"\nSee 'docker --help'.")
		if got.Reason != tt.want || got.Detail != tt.says {
			t.Errorf("%q: reason %q, detail %q; want %q and the first line", tt.says, got.Reason, got.Detail, tt.want)
		}
		if !strings.Contains(got.Error(), tt.wantHelp) {
			t.Errorf("%q: %q does not say %q", tt.says, got, tt.wantHelp)
		}
	}
}

func TestWhoseClusterItIs(t *testing.T) {
	nodes := []node{{name: "podproof-control-plane", role: "control-plane", state: "running"}}
	tests := []struct {
		name              string
		found             found
		absent            bool
		foreign, halfMade bool
	}{
		{"nothing", found{}, true, false, false},
		{"a journal without containers", found{journal: true}, true, false, false},
		{"ours and whole", found{nodes: nodes, labelled: true}, false, false, false},
		{"ours, died before the configuration was written", found{nodes: nodes, journal: true}, false, false, true},
		{"ours, died later", found{nodes: nodes, journal: true, labelled: true}, false, false, true},
		{"a stranger's", found{nodes: nodes, plain: true}, false, true, false},
		{"a stranger's without configuration", found{nodes: nodes}, false, true, false},
		{"a stranger's beside a journal that was left behind", found{nodes: nodes, journal: true, plain: true}, false, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.found.absent(); got != tt.absent {
				t.Errorf("absent is %v", got)
			}
			if got := tt.found.foreign(); got != tt.foreign {
				t.Errorf("foreign is %v", got)
			}
			if got := tt.found.halfMade(); got != tt.halfMade {
				t.Errorf("half-made is %v", got)
			}
		})
	}
}

func TestKindsLinesBecomeEvents(t *testing.T) {
	tests := []struct {
		line string
		want podproof.Event
		ok   bool
	}{
		{" • Ensuring node image (kindest/node:v1.35.8) 🖼  ...\n", podproof.Event{Step: "node-image", Text: "Getting the node image kindest/node:v1.35.8"}, true},
		{" ✓ Preparing nodes 📦 \n", podproof.Event{Step: "node-containers", Text: "Starting the node containers", Done: true}, true},
		{" • Starting control-plane 🕹️  ...\n", podproof.Event{Step: "control-plane", Text: "Starting the control plane"}, true},
		{" • Something new ✨  ...\n", podproof.Event{Step: "kind", Text: "Something new"}, true},
		{"Pulling image: kindest/node:v1.35.8 ...", podproof.Event{Step: "node-image", Text: "Pulling kindest/node:v1.35.8, about 1 GB"}, true},
		{"Creating cluster \"podproof\" ...\n", podproof.Event{}, false},
		{"", podproof.Event{}, false},
	}
	for _, tt := range tests {
		got, ok := event(tt.line)
		if ok != tt.ok {
			t.Errorf("%q: event is %v", tt.line, ok)
		} else if diff := cmp.Diff(tt.want, got); ok && diff != "" {
			t.Errorf("%q: %s", tt.line, diff)
		}
	}
	if e, _ := event(" ✗ Starting control-plane 🕹️\n"); !e.Done || e.Err == nil {
		t.Errorf("a failed step gives %+v", e)
	}
}

func TestArchivesSayWhichImagesTheyHold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "image.tar")
	img, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	tag := name.MustParseReference("busybox:1.36").(name.Tag)
	if err := tarball.WriteToFile(path, tag, img); err != nil {
		t.Fatal(err)
	}
	id, err := img.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	got, err := imagesIn(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].id != id.String() || !strings.HasSuffix(got[0].name, "busybox:1.36") {
		t.Errorf("got %+v, want busybox:1.36 with ID %s", got, id)
	}

	empty := filepath.Join(dir, "empty.tar")
	f, err := os.Create(empty)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tar.NewWriter(f).Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{empty, filepath.Join(dir, "missing.tar")} {
		if _, err := imagesIn(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error is %v", bad, err)
		}
	}
}

// faultyDocker puts a docker command with a fault first in PATH and returns
// the folder where it keeps its state.
func faultyDocker(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		script = "exit 1"
	}
	dir := t.TempDir()
	text := "#!/bin/sh\nstate=" + dir + "\n" + script
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+"/usr/bin"+string(os.PathListSeparator)+"/bin")
	return dir
}

func TestUnavailableRuntimesAreExplained(t *testing.T) {
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := Detect(t.Context())
		for _, rt := range []Runtime{Docker, Podman, Nerdctl} {
			if err == nil || !strings.Contains(err.Error(), string(rt)+" is not installed") {
				t.Errorf("error %v does not tell of %s", err, rt)
			}
		}
		if first := (*UnavailableError)(nil); !errors.As(err, &first) || first.Reason != NotInstalled {
			t.Errorf("error %v holds no reason", err)
		}
	})
	t.Run("Docker's command is Podman's", func(t *testing.T) {
		faultyDocker(t, `[ "$1" = --version ] && echo podman version 5.0.0; exit 0`)
		if _, err := open(t.Context(), Docker); err == nil || !strings.Contains(err.Error(), "Podman's") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("a hung daemon ends with the context", func(t *testing.T) {
		faultyDocker(t, `exec sleep 60`)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := open(ctx, Docker); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}

// hungDocker answers all questions, but a node that it runs never comes up.
const hungDocker = `
echo "$*" >>$state/calls
case $1 in
ps) [ "$2" = --quiet ] || { [ -e $state/node ] && echo stuck-control-plane; } ;;
info) echo '{"CgroupVersion":"2","MemoryLimit":true,"PidsLimit":true,"CPUShares":true}' ;;
volume)
	case $2 in
	create) touch $state/volume; echo created ;;
	rm) rm $state/volume ;;
	ls) [ -e $state/volume ] && basename podproof-kind-stuck-unfinished ;;
	esac ;;
network) [ "$2" = ls ] && echo 0123456789ab || true ;;
run) touch $state/node; echo $$ >$state/pid; exec sleep 60 ;;
rm) rm -f $state/node ;;
inspect) case $* in *State.Status*) echo running control-plane ;; esac ;;
cp) echo "no such file" >&2; exit 1 ;;
esac
exit 0
`

func TestCancelStopsAHungCreationAndTakesItBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("process groups are Unix's")
		return
	}
	state := faultyDocker(t, hungDocker)
	p, err := New(Options{Name: "stuck", LockDir: t.TempDir(), Runtime: Docker})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the user has pressed a key")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(state, "pid")); err == nil {
				cancel(reason)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	err = p.Ensure(ctx, nil)
	if !errors.Is(err, reason) {
		t.Errorf("Ensure returned %v, want the cause of the cancellation", err)
	}
	for _, file := range []string{"node", "volume"} {
		if _, err := os.Stat(filepath.Join(state, file)); err == nil {
			t.Errorf("the %s is left", file)
		}
	}
	pid, err := os.ReadFile(filepath.Join(state, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); runtime.GOOS == "linux" && err == nil {
		t.Error("the hung command still runs")
	}
}

func TestANodeImageThatCannotBePulledIsAKindOfItsOwn(t *testing.T) {
	for result, want := range map[string]bool{
		`failed to pull image "kindest/node:v1.35.8": command "docker pull" failed`: true,
		"no space left on device": false,
	} {
		if err := failure(result); errors.Is(err, ErrNoNodeImage) != want || !strings.Contains(err.Error(), result) {
			t.Errorf("%q became %v", result, err)
		}
	}
}
