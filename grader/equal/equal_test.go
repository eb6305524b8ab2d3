package equal_test

import (
	"testing"

	"github.com/podproof/podproof/grader/equal"
)

// row is one comparison: what is wanted, what is found, and the normal forms.
type row struct {
	want, got string
	equal     bool
	normWant  string
	normGot   string
}

func check(t *testing.T, compare func(want, got string) (equal.Compared, error), rows []row) {
	t.Helper()
	for _, r := range rows {
		c, err := compare(r.want, r.got)
		if err != nil {
			t.Errorf("%q: %v", r.want, err)
			continue
		}
		if want := (equal.Compared{Want: r.normWant, Got: r.normGot, Equal: r.equal}); c != want {
			t.Errorf("%q with %q: %+v, want %+v", r.want, r.got, c, want)
		}
	}
}

// invalid holds that each of the wanted values is an error, and that each as a
// found value is merely unequal and shown as it is.
func invalid(t *testing.T, compare func(want, got string) (equal.Compared, error), good string, bad ...string) {
	t.Helper()
	for _, b := range bad {
		if c, err := compare(b, good); err == nil {
			t.Errorf("wanting %q is no error: %+v", b, c)
		}
		c, err := compare(good, b)
		if err != nil || c.Equal || c.Got != b {
			t.Errorf("finding %q: %+v, %v", b, c, err)
		}
	}
}

func TestQuantity(t *testing.T) {
	check(t, equal.Quantity, []row{
		{"1", "1000m", true, "1", "1"},
		{"500m", "0.5", true, "500m", "500m"},
		{"1Gi", "1024Mi", true, "1Gi", "1Gi"},
		{"1Gi", "1073741824", true, "1Gi", "1Gi"},
		{"128Mi", "131072Ki", true, "128Mi", "128Mi"},
		{"100M", "100e6", true, "100M", "100M"},
		{"0", "0Mi", true, "0", "0"},
		{"64Mi", " 64Mi ", true, "64Mi", "64Mi"},
		{"1Gi", "1G", false, "1Gi", "1G"},
		{"100m", "100M", false, "100m", "100M"},
		{"64Mi", "64M", false, "64Mi", "64M"},
		{"500m", "0.51", false, "500m", "510m"},
	})
	invalid(t, equal.Quantity, "1", "", "1e-99999999", "1E999999999", "1 Gi", "1gb", "many", "1GiB", "--1")
}

func TestImage(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	const other = "sha256:fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
	const nginx = "docker.io/library/nginx"
	check(t, equal.Image, []row{
		{"nginx", "nginx:latest", true, nginx + ":latest", nginx + ":latest"},
		{"nginx", "docker.io/library/nginx:latest", true, nginx + ":latest", nginx + ":latest"},
		{"nginx:1.27", "docker.io/nginx:1.27", true, nginx + ":1.27", nginx + ":1.27"},
		{"nginx:1.27", "index.docker.io/library/nginx:1.27", true, nginx + ":1.27", nginx + ":1.27"},
		{"ghcr.io/a/b:1", "ghcr.io/a/b:1", true, "ghcr.io/a/b:1", "ghcr.io/a/b:1"},
		{"localhost:5000/nginx", "localhost:5000/nginx:latest", true, "localhost:5000/nginx:latest", "localhost:5000/nginx:latest"},
		// Both have a digest: it decides, whatever the tags.
		{"nginx:1.27@" + digest, "nginx@" + digest, true, nginx + ":1.27@" + digest, nginx + "@" + digest},
		{"nginx:1.27@" + digest, "nginx:1.28@" + digest, true, nginx + ":1.27@" + digest, nginx + ":1.28@" + digest},
		{"nginx:1.27@" + digest, "nginx:1.27@" + other, false, nginx + ":1.27@" + digest, nginx + ":1.27@" + other},
		// One has: the tags decide, and a digest alone names no tag.
		{"nginx:1.27", "nginx:1.27@" + digest, true, nginx + ":1.27", nginx + ":1.27@" + digest},
		{"nginx:1.27@" + digest, "nginx:1.27", true, nginx + ":1.27@" + digest, nginx + ":1.27"},
		{"nginx:1.27", "nginx@" + digest, false, nginx + ":1.27", nginx + "@" + digest},
		{"nginx", "nginx@" + digest, false, nginx + ":latest", nginx + "@" + digest},
		// Similar names are other images.
		{"redis", "my-redis-exporter", false, "docker.io/library/redis:latest", "docker.io/library/my-redis-exporter:latest"},
		{"redis", "oliver006/redis", false, "docker.io/library/redis:latest", "docker.io/oliver006/redis:latest"},
		{"nginx:1.27", "nginx:1.2", false, nginx + ":1.27", nginx + ":1.2"},
		{"nginx:1.27", "nginx:1.27.0", false, nginx + ":1.27", nginx + ":1.27.0"},
		{"nginx:1.27", "quay.io/library/nginx:1.27", false, nginx + ":1.27", "quay.io/library/nginx:1.27"},
		{"nginx:1.27", "nginx", false, nginx + ":1.27", nginx + ":latest"},
	})
	invalid(t, equal.Image, "nginx", "", "NGINX", "nginx:", "nginx:1:2", "a b", "nginx@sha256:12", "https://nginx")
}

func TestDuration(t *testing.T) {
	check(t, equal.Duration, []row{
		{"90s", "1m30s", true, "1m30s", "1m30s"},
		{"60", "1m", true, "1m0s", "1m0s"},
		{"1h", "3600", true, "1h0m0s", "1h0m0s"},
		{"0.5", "500ms", true, "500ms", "500ms"},
		{"5m", "5s", false, "5m0s", "5s"},
		{"5m", "300ms", false, "5m0s", "300ms"},
	})
	invalid(t, equal.Duration, "1s", "", "5 minutes", "1d", "m", "1h:30")
}

func TestPort(t *testing.T) {
	named := func(want, got string) (equal.Compared, error) {
		return equal.Port(want, got, map[string]string{"http": "8080", "dns": "53/UDP", "web": "80/TCP"})
	}
	check(t, named, []row{
		{"8080", "http", true, "8080/TCP", "8080/TCP"},
		{"http", "8080/tcp", true, "8080/TCP", "8080/TCP"},
		{"80", "80/TCP", true, "80/TCP", "80/TCP"},
		{"80", "web", true, "80/TCP", "80/TCP"},
		{"53/UDP", "dns", true, "53/UDP", "53/UDP"},
		{"080", "80", true, "80/TCP", "80/TCP"},
		{"53", "dns", false, "53/TCP", "53/UDP"},
		{"53/UDP", "53", false, "53/UDP", "53/TCP"},
		{"80", "8080", false, "80/TCP", "8080/TCP"},
		{"80", "other", false, "80/TCP", "other/TCP"},
		{"other", "other", true, "other/TCP", "other/TCP"},
	})
	invalid(t, named, "80", "", "0", "65536", "-1", "80/HTTP", "8 0", "UPPER", "a-name-that-is-too-long", "123456")
}

func TestPath(t *testing.T) {
	check(t, equal.Path, []row{
		{"/data", "/data/", true, "/data", "/data"},
		{"/a/b/", "//a///b", true, "/a/b", "/a/b"},
		{"/a", "/a/./b/..", true, "/a", "/a"},
		{"/", "//", true, "/", "/"},
		{"conf", "./conf", true, "conf", "conf"},
		{"/data", "/data2", false, "/data", "/data2"},
		{"/data", "data", false, "/data", "data"},
		{"/data", "", false, "/data", ""},
	})
	if _, err := equal.Path("", "/x"); err == nil {
		t.Error("wanting no path is no error")
	}
}

func TestEnv(t *testing.T) {
	want := map[string]string{"A": "1", "B": "two words"}
	for name, x := range map[string]struct {
		got map[string]string
		equal.Compared
	}{
		"the same":  {map[string]string{"B": "two words", "A": "1"}, equal.Compared{Want: `A=1 B="two words"`, Got: `A=1 B="two words"`, Equal: true}},
		"with more": {map[string]string{"B": "two words", "A": "1", "PATH": "/bin"}, equal.Compared{Want: `A=1 B="two words"`, Got: `A=1 B="two words"`, Equal: true}},
		"one other": {map[string]string{"A": "2", "B": "two words"}, equal.Compared{Want: `A=1 B="two words"`, Got: `A=2 B="two words"`}},
		"one unset": {map[string]string{"A": "1"}, equal.Compared{Want: `A=1 B="two words"`, Got: `A=1 B unset`}},
		"one empty": {map[string]string{"A": "1", "B": ""}, equal.Compared{Want: `A=1 B="two words"`, Got: `A=1 B=""`}},
		"none":      {nil, equal.Compared{Want: `A=1 B="two words"`, Got: `A unset B unset`}},
	} {
		if c, err := equal.Env(want, x.got); err != nil || c != x.Compared {
			t.Errorf("%s: %+v, %v; want %+v", name, c, err, x.Compared)
		}
	}
	if c, err := equal.Env(map[string]string{"A": ""}, nil); err != nil || c.Equal {
		t.Errorf("unset passes for empty: %+v, %v", c, err)
	}
	if _, err := equal.Env(map[string]string{"": "x"}, nil); err == nil {
		t.Error("a variable without a name is no error")
	}
}
