package equal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader/equal"
)

func TestProcessArgv(t *testing.T) {
	nginx := equal.Process{Entrypoint: []string{"/docker-entrypoint.sh"}, Cmd: []string{"nginx", "-g", "daemon off;"}}
	busybox := equal.Process{Cmd: []string{"sh"}}
	with := func(p equal.Process, command, args []string) equal.Process {
		p.Command, p.Args = command, args
		return p
	}
	for name, x := range map[string]struct {
		process equal.Process
		want    []string
	}{
		"the image alone":       {nginx, []string{"/docker-entrypoint.sh", "nginx", "-g", "daemon off;"}},
		"args replace cmd":      {with(nginx, nil, []string{"nginx", "-t"}), []string{"/docker-entrypoint.sh", "nginx", "-t"}},
		"command replaces both": {with(nginx, []string{"sleep", "5"}, nil), []string{"sleep", "5"}},
		"command and args":      {with(nginx, []string{"sh", "-c"}, []string{"x"}), []string{"sh", "-c", "x"}},
		"args, no entrypoint":   {with(busybox, nil, []string{"sh", "-c", "x"}), []string{"sh", "-c", "x"}},
		"no args, no command":   {busybox, []string{"sh"}},
	} {
		if diff := cmp.Diff(x.want, x.process.Argv()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, x := range []struct {
		want, got []string
		equal     bool
		normGot   string
	}{
		{[]string{"sh", "-c", "a; b"}, []string{"/bin/sh", "-c", "a; b"}, true, "sh -c 'a; b'"},
		{[]string{"sh", "-c", "a && b"}, []string{"sh", "-c", " a && b;\n"}, true, "sh -c 'a && b'"},
		{[]string{"sleep", "3600"}, []string{"sh", "-c", "sleep 3600"}, true, "sleep 3600"},
		{[]string{"sleep", "3600"}, []string{"/bin/sh", "-c", "exec  /bin/sleep '3600'\n"}, true, "sleep 3600"},
		{[]string{"sh", "-c", "sleep 3600"}, []string{"/usr/bin/sleep", "3600"}, true, "sleep 3600"},
		{[]string{"echo", "a b"}, []string{"sh", "-c", `echo "a b"`}, true, "echo 'a b'"},
		{[]string{"echo", "it's"}, []string{"sh", "-c", `echo "it's"`}, true, `echo 'it'\''s'`},
		{[]string{"echo", "*", "$HOME"}, []string{"sh", "-c", `echo '*' '$HOME'`}, true, "echo '*' '$HOME'"},
		{[]string{"sleep", "1"}, []string{"sh", "-c", `sh -c "sleep 1"`}, true, "sleep 1"},
		// What a shell would do more than start the program.
		{[]string{"echo", "$HOME"}, []string{"sh", "-c", "echo $HOME"}, false, "sh -c 'echo $HOME'"},
		{[]string{"echo", "$HOME"}, []string{"sh", "-c", `echo "$HOME"`}, false, `sh -c 'echo "$HOME"'`},
		{[]string{"echo", "*"}, []string{"sh", "-c", "echo *"}, false, "sh -c 'echo *'"},
		{[]string{"exit", "3"}, []string{"sh", "-c", "exit 3"}, false, "sh -c 'exit 3'"},
		{[]string{"A=b", "env"}, []string{"sh", "-c", "A=b env"}, false, "sh -c 'A=b env'"},
		{[]string{"sleep", "1"}, []string{"sh", "-c", "sleep 1 & wait"}, false, "sh -c 'sleep 1 & wait'"},
		{[]string{"sleep", "1"}, []string{"sh", "-c", "sleep 1 > /dev/null"}, false, "sh -c 'sleep 1 > /dev/null'"},
		{[]string{"sleep", "1"}, []string{"sh", "-c", "sleep '1"}, false, `sh -c 'sleep '\''1'`},
		{[]string{"sleep", "1"}, []string{"sh", "-c", "sleep 1", "x"}, false, "sh -c 'sleep 1' x"},
		{[]string{"sleep", "1"}, []string{"sh", "-ec", "sleep 1"}, false, "sh -ec 'sleep 1'"},
		// Other programs and other arguments.
		{[]string{"sh", "-c", "a;b"}, []string{"bash", "-c", "a;b"}, false, "bash -c 'a;b'"},
		{[]string{"sleep", "60"}, []string{"sleep", "600"}, false, "sleep 600"},
		{[]string{"sleep", "60"}, []string{"sleep 60"}, false, "'sleep 60'"},
		{[]string{"sleep", "60"}, []string{"/opt/sleep", "60"}, false, "/opt/sleep 60"},
		{[]string{"sleep", "60"}, nil, false, ""},
	} {
		c, err := equal.Command(x.want, x.got)
		if err != nil || c.Equal != x.equal || c.Got != x.normGot || c.Equal != (c.Want == c.Got) {
			t.Errorf("%q with %q: %+v, %v; want %v %q", x.want, x.got, c, err, x.equal, x.normGot)
		}
	}
	for _, bad := range [][]string{nil, {}, {""}} {
		if _, err := equal.Command(bad, []string{"sleep"}); err == nil {
			t.Errorf("wanting %q is no error", bad)
		}
	}
}

func TestValue(t *testing.T) {
	type m = map[string]any
	type l = []any
	for name, x := range map[string]struct {
		path      string
		want, got any
		as        string
		equal     bool
		normWant  string
		normGot   string
	}{
		"image by path":          {"container[web].image", "nginx", "nginx:latest", "", true, "docker.io/library/nginx:latest", "docker.io/library/nginx:latest"},
		"image as text":          {"container[web].image", "nginx", "nginx:latest", "text", false, "nginx", "nginx:latest"},
		"quantity by path":       {"container[web].resources.requests.cpu", 1, "1000m", "", true, "1", "1"},
		"quantities by path":     {"container[web].resources.limits", m{"memory": "1Gi"}, m{"memory": "1024Mi", "cpu": "1"}, "", true, `{"memory":"1Gi"}`, `{"memory":"1Gi"}`},
		"size limit":             {"spec.volumes[a].emptyDir.sizeLimit", "1Gi", "1024Mi", "", true, "1Gi", "1Gi"},
		"schedule by path":       {"spec.schedule", "0 * * * *", "@hourly", "", true, "0 * * * *", "0 * * * *"},
		"command by path":        {"container[web].command", l{"sleep", "5"}, l{"/bin/sh", "-c", "sleep 5"}, "", true, "sleep 5", "sleep 5"},
		"args in order":          {"container[web].args", l{"a", "b"}, l{"b", "a"}, "", false, `["a","b"]`, `["b","a"]`},
		"mount path":             {"container[web].volumeMounts[a].mountPath", "/data", "/data/", "", true, "/data", "/data"},
		"URL path is no file":    {"container[web].livenessProbe.httpGet.path", "/a", "/a/", "", false, "/a", "/a/"},
		"port by path":           {"container[web].ports[http].containerPort", "80", int64(80), "", true, "80/TCP", "80/TCP"},
		"number for text":        {"metadata.labels.n", int64(5), "5", "", true, "5", "5"},
		"boolean for text":       {"metadata.annotations.on", true, "true", "", true, "true", "true"},
		"number and float":       {"spec.replicas", int64(2), float64(2), "", true, "2", "2"},
		"text is exact":          {"metadata.labels.a", "web", "Web", "", false, "web", "Web"},
		"duration as said":       {"metadata.annotations.wait", "90s", "1m30s", "duration", true, "1m30s", "1m30s"},
		"unset":                  {"spec.replicas", int64(2), nil, "", false, "2", ""},
		"more keys":              {"spec.selector", m{"app": "a"}, m{"app": "a", "tier": "b"}, "", true, `{"app":"a"}`, `{"app":"a"}`},
		"a key missing":          {"spec.selector", m{"app": "a", "x": "y"}, m{"app": "a"}, "", false, `{"app":"a","x":"y"}`, `{"app":"a"}`},
		"an empty key":           {"spec.volumes[a].emptyDir", m{}, m{"medium": "Memory"}, "", true, `{}`, `{}`},
		"not a mapping":          {"spec.selector", m{"app": "a"}, "a", "", false, `{"app":"a"}`, "a"},
		"mappings in any order":  {"spec.ports", l{m{"port": 80}, m{"port": 81}}, l{m{"port": 81}, m{"port": 82}, m{"port": 80}}, "", true, `[{"port":"80/TCP"},{"port":"81/TCP"}]`, `[{"port":"80/TCP"},{"port":"81/TCP"}]`},
		"each for one only":      {"spec.list", l{m{"a": "x"}, m{"a": "x"}}, l{m{"a": "x"}, m{"a": "y"}}, "", false, `[{"a":"x"},{"a":"x"}]`, `[{"a":"x"},{"a":"y"}]`},
		"the looser one waits":   {"spec.list", l{m{"a": "x"}, m{"a": "x", "b": "y"}}, l{m{"a": "x", "b": "y"}, m{"a": "x"}}, "", true, `[{"a":"x"},{"a":"x","b":"y"}]`, `[{"a":"x"},{"a":"x","b":"y"}]`},
		"list for a scalar":      {"spec.x", "a", l{"a"}, "", false, "a", `["a"]`},
		"quantity found invalid": {"resources.requests.cpu", "1", "x", "", false, "1", "x"},
	} {
		c, err := equal.Value(x.path, x.want, x.got, x.as)
		want := equal.Compared{Want: x.normWant, Got: x.normGot, Equal: x.equal}
		if err != nil || c != want {
			t.Errorf("%s: %+v, %v; want %+v", name, c, err, want)
		}
	}
	for name, x := range map[string]struct {
		path string
		want any
		as   string
	}{
		"nothing wanted": {"spec.x", nil, ""}, "no image": {"spec.image", "A B", ""},
		"unknown as": {"spec.x", 1, "colour"}, "inner quantity": {"spec.resources.requests", m{"cpu": "x"}, ""},
		"inner image": {"spec.containers", l{m{"image": "A B"}}, ""}, "no words": {"x.command", m{}, ""},
	} {
		if _, err := equal.Value(x.path, x.want, "x", x.as); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
