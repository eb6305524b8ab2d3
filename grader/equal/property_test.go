package equal_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/podproof/podproof/grader/equal"
)

type comparison func(want, got string) (equal.Compared, error)

func cronOf(want, got string) (equal.Compared, error) {
	return equal.Cron(equal.Schedule{Spec: want}, equal.Schedule{Spec: got})
}

func portOf(want, got string) (equal.Compared, error) {
	return equal.Port(want, got, map[string]string{"http": "80", "dns": "53/UDP"})
}

// laws holds what is true of every comparison of valid values: it is reflexive
// and symmetric, normal forms compare as the values do, and an equality shows
// one form.
func laws(t *rapid.T, compare comparison, a, b string) {
	same, err := compare(a, a)
	if err != nil || !same.Equal || same.Want != same.Got {
		t.Fatalf("%q is not itself: %+v, %v", a, same, err)
	}
	ab, err := compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	ba, err := compare(b, a)
	if err != nil || ab.Equal != ba.Equal {
		t.Fatalf("%q and %q: %v one way, %v the other, %v", a, b, ab, ba, err)
	}
	if norm, err := compare(ab.Want, a); err != nil || !norm.Equal {
		t.Fatalf("the normal form %q of %q is another value: %+v, %v", ab.Want, a, norm, err)
	}
}

func quantities() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		suffix := rapid.SampledFrom([]string{"", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3"}).Draw(t, "suffix")
		if rapid.Bool().Draw(t, "fraction") {
			return fmt.Sprintf("%d.%d%s", rapid.IntRange(0, 99).Draw(t, "whole"), rapid.IntRange(0, 9).Draw(t, "part"), suffix)
		}
		return fmt.Sprintf("%d%s", rapid.IntRange(0, 2048).Draw(t, "number"), suffix)
	})
}

func TestQuantityLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := quantities().Draw(t, "a"), quantities().Draw(t, "b")
		laws(t, equal.Quantity, a, b)
		c, err := equal.Quantity(a, b)
		if want := resource.MustParse(a); err != nil || c.Equal != (want.Cmp(resource.MustParse(b)) == 0) {
			t.Fatalf("%q with %q: %+v, %v", a, b, c, err)
		}
	})
}

func images() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		host := rapid.SampledFrom([]string{"", "docker.io/", "docker.io/library/", "ghcr.io/", "localhost:5000/"}).Draw(t, "host")
		name := rapid.SampledFrom([]string{"nginx", "redis", "a/b"}).Draw(t, "name")
		tag := rapid.SampledFrom([]string{"", ":latest", ":1.27"}).Draw(t, "tag")
		digest := rapid.SampledFrom([]string{"", "", "@sha256:" + strings.Repeat("a", 64), "@sha256:" + strings.Repeat("b", 64)}).Draw(t, "digest")
		return host + name + tag + digest
	})
}

func TestImageLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := images().Draw(t, "a"), images().Draw(t, "b")
		same, err := equal.Image(a, a)
		if err != nil || !same.Equal {
			t.Fatalf("%q is not itself: %+v, %v", a, same, err)
		}
		laws(t, equal.Image, a, b)
	})
}

// specs draws cron expressions, dense ones and such as hit month ends.
func specs() *rapid.Generator[string] {
	field := func(low, high int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			n := func(label string) int { return rapid.IntRange(low, high).Draw(t, label) }
			switch rapid.IntRange(0, 4).Draw(t, "form") {
			case 0:
				return "*"
			case 1:
				return fmt.Sprintf("*/%d", rapid.IntRange(1, high).Draw(t, "step"))
			case 2:
				a, b := n("from"), n("to")
				return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
			case 3:
				return fmt.Sprintf("%d,%d", n("one"), n("other"))
			}
			return fmt.Sprint(n("value"))
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join([]string{
			field(0, 59).Draw(t, "minute"), field(0, 23).Draw(t, "hour"), field(1, 31).Draw(t, "day"),
			field(1, 12).Draw(t, "month"), field(0, 6).Draw(t, "weekday"),
		}, " ")
	})
}

func TestCronLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		laws(t, cronOf, specs().Draw(t, "a"), specs().Draw(t, "b"))
	})
}

// TestCronAgreesWithWhatFires compares the verdict with the moments that the
// parser of Kubernetes gives, around clock changes, month ends and leap days.
func TestCronAgreesWithWhatFires(t *testing.T) {
	starts := []time.Time{
		time.Date(2028, 2, 27, 0, 0, 0, 0, time.UTC), time.Date(2028, 3, 11, 0, 0, 0, 0, time.UTC),
		time.Date(2027, 10, 30, 20, 0, 0, 0, time.UTC), time.Date(2027, 12, 30, 0, 0, 0, 0, time.UTC),
	}
	zones := rapid.SampledFrom([]string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"})
	rapid.Check(t, func(t *rapid.T) {
		a := equal.Schedule{Spec: specs().Draw(t, "a"), Zone: zones.Draw(t, "zone")}
		b := a
		switch rapid.IntRange(0, 2).Draw(t, "change") {
		case 0:
			b.Spec = specs().Draw(t, "b")
		case 1:
			b.Zone = zones.Draw(t, "other zone")
		case 2: // the same written out
			c, err := equal.Cron(equal.Schedule{Spec: a.Spec}, equal.Schedule{Spec: a.Spec})
			if err != nil {
				t.Fatal(err)
			}
			b.Spec = c.Want
		}
		c, err := equal.Cron(a, b)
		if err != nil {
			t.Fatal(err)
		}
		same := true
		for _, start := range starts {
			same = same && slices.EqualFunc(fires(t, a, start, 20), fires(t, b, start, 20), time.Time.Equal)
		}
		// A difference may show later than the windows reach, never the reverse.
		if c.Equal && !same {
			t.Fatalf("%v with %v: %+v, but they fire at other times", a, b, c)
		}
	})
}

func TestDurationLaws(t *testing.T) {
	spans := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(0, 7200).Draw(t, "n")
		return fmt.Sprint(n) + rapid.SampledFrom([]string{"", "s", "m", "h", "ms"}).Draw(t, "unit")
	})
	rapid.Check(t, func(t *rapid.T) { laws(t, equal.Duration, spans.Draw(t, "a"), spans.Draw(t, "b")) })
}

func TestPortLaws(t *testing.T) {
	ports := rapid.Custom(func(t *rapid.T) string {
		port := rapid.SampledFrom([]string{"80", "53", "http", "dns", "other", "080"}).Draw(t, "port")
		return port + rapid.SampledFrom([]string{"", "/TCP", "/udp"}).Draw(t, "protocol")
	})
	rapid.Check(t, func(t *rapid.T) { laws(t, portOf, ports.Draw(t, "a"), ports.Draw(t, "b")) })
}

func TestPathLaws(t *testing.T) {
	paths := rapid.StringMatching(`/?([a-c.]{1,2}/{0,2}){1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := paths.Draw(t, "a"), paths.Draw(t, "b")
		laws(t, equal.Path, a, b)
		if c, err := equal.Path(a, path.Join(a, "x", "..")+"/"); err != nil || !c.Equal {
			t.Fatalf("%q and a detour: %+v, %v", a, c, err)
		}
	})
}

func TestEnvLaws(t *testing.T) {
	vars := rapid.MapOf(rapid.StringMatching(`[A-Z][A-Z_]{0,4}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		want, more := vars.Draw(t, "want"), vars.Draw(t, "more")
		got := maps.Clone(more)
		maps.Copy(got, want)
		if c, err := equal.Env(want, got); err != nil || !c.Equal {
			t.Fatalf("more variables: %+v, %v", c, err)
		}
		for name := range want {
			got[name] += "x"
			if c, err := equal.Env(want, got); err != nil || c.Equal {
				t.Fatalf("another value of %s: %+v, %v", name, c, err)
			}
			break
		}
	})
}

func TestCommandLaws(t *testing.T) {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9 '"$;*/-]{1,6}`), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		argv := words.Draw(t, "argv")
		if c, err := equal.Command(argv, argv); err != nil || !c.Equal {
			t.Fatalf("%q is not itself: %+v, %v", argv, c, err)
		}
		// The normal form read by a shell is the same process, unless the shell
		// would take the first word for its own.
		first := argv[0]
		if strings.ContainsAny(first, " '\"$;*/") || first == "sh" {
			return
		}
		c, err := equal.Command(argv, argv)
		if err != nil {
			t.Fatal(err)
		}
		other := append([]string{"x" + first}, argv[1:]...)
		if d, err := equal.Command(argv, other); err != nil || d.Equal {
			t.Fatalf("another program: %+v, %+v, %v", c, d, err)
		}
	})
}

// TestPlainScriptsAreTheirCommand unwraps what was wrapped by quoting each word.
func TestPlainScriptsAreTheirCommand(t *testing.T) {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9 "$;*/-]{0,6}`), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		argv := append([]string{"prog"}, words.Draw(t, "args")...)
		script := "prog"
		for _, w := range argv[1:] {
			script += " '" + w + "'"
		}
		if c, err := equal.Command(argv, []string{"/bin/sh", "-c", script}); err != nil || !c.Equal {
			t.Fatalf("%q with sh -c %q: %+v, %v", argv, script, c, err)
		}
	})
}

func TestValueLaws(t *testing.T) {
	scalar := rapid.OneOf(rapid.Just[any](true), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.String(), func(s string) any { return s }))
	values := rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(scalar,
			rapid.Map(rapid.SliceOfN(scalar, 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), scalar, 0, 3), func(m map[string]any) any { return m }))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		if c, err := equal.Value("metadata.x", a, a, ""); err != nil || !c.Equal || c.Want != c.Got {
			t.Fatalf("%v is not itself: %+v, %v", a, c, err)
		}
		if _, err := equal.Value("metadata.x", a, b, ""); err != nil {
			t.Fatal(err)
		}
	})
}
