package equal_test

import (
	"strings"
	"testing"

	"github.com/podproof/podproof/grader/equal"
)

// fuzz holds that no input makes a comparison panic, that a value that may be
// wanted equals itself, and that equality works both ways.
func fuzz(f *testing.F, compare comparison, seeds ...string) {
	for i, a := range seeds {
		f.Add(a, seeds[(i+1)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ab, errA := compare(a, b)
		ba, errB := compare(b, a)
		if errA == nil && errB == nil && ab.Equal != ba.Equal {
			t.Errorf("%q and %q: %+v one way, %+v the other", a, b, ab, ba)
		}
		if errA == nil && errB != nil && ab.Equal {
			t.Errorf("%q equals the invalid %q: %v", a, b, errB)
		}
		if errA == nil {
			if c, err := compare(a, a); err != nil || !c.Equal {
				t.Errorf("%q is not itself: %+v, %v", a, c, err)
			}
		}
	})
}

func FuzzQuantity(f *testing.F) { fuzz(f, equal.Quantity, "1", "1000m", "1Gi", "0.5", "1e3", "") }

func FuzzImage(f *testing.F) {
	fuzz(f, equal.Image, "nginx", "nginx:latest", "docker.io/library/nginx", "a@sha256:"+strings.Repeat("0", 64), "localhost:5000/a:b")
}

func FuzzCron(f *testing.F) {
	fuzz(f, cronOf, "* * * * *", "@hourly", "@every 5m", "TZ=Asia/Tokyo 0 9 * * *", "TZ=UTC", "0 0 31 2 *", ", * * * *")
}

func FuzzDuration(f *testing.F) { fuzz(f, equal.Duration, "90s", "1m30s", "60", "1e9", "") }

func FuzzPort(f *testing.F) { fuzz(f, portOf, "80", "http", "53/UDP", "80/TCP", "") }

func FuzzPath(f *testing.F) { fuzz(f, equal.Path, "/data", "/data/", "a//b", ".", "") }

func FuzzEnv(f *testing.F) {
	env := func(s string) map[string]string {
		out := map[string]string{}
		for line := range strings.Lines(s) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if name != "" {
				out[name] = value
			}
		}
		return out
	}
	f.Add("A=1\nB=2", "B=2\nA=1")
	f.Add("A unset=1", "A=x")
	f.Fuzz(func(t *testing.T, a, b string) {
		want, got := env(a), env(b)
		c, err := equal.Env(want, got)
		if err != nil {
			t.Fatal(err)
		}
		same := true
		for name, value := range want {
			found, ok := got[name]
			same = same && ok && found == value
		}
		if c.Equal != same {
			t.Errorf("%q with %q: %+v", a, b, c)
		}
	})
}

func FuzzCommand(f *testing.F) {
	fuzz(f, func(want, got string) (equal.Compared, error) {
		return equal.Command(strings.Split(want, "\x00"), strings.Split(got, "\x00"))
	}, "sleep\x001", "sh\x00-c\x00sleep 1", "/bin/sh\x00-c\x00exec sleep '1'", "sh\x00-c\x00sh -c 'a b'", "")
}

func FuzzValue(f *testing.F) {
	f.Add("spec.image", "nginx", "nginx:latest", "")
	f.Add("a.requests", "1", "1000m", "quantity")
	f.Add("a.command[0].schedule.", "x", "", "command")
	f.Fuzz(func(t *testing.T, path, want, got, as string) {
		if c, err := equal.Value(path, want, got, as); err == nil {
			if same, err := equal.Value(path, want, want, as); err != nil || !same.Equal {
				t.Errorf("%s as %s: %q is not itself: %+v, %v (%+v)", path, as, want, same, err, c)
			}
		}
		_, err := equal.Value(path, map[string]any{"a": want, "b": []any{want}}, []any{got, map[string]any{"a": got}}, as)
		_ = err // only that it returns
	})
}
