package embedded

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func prefixes(s ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range s {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

func TestInstanceIsChosenOnceAndAvoidsTheMachinesNetworks(t *testing.T) {
	dir := t.TempDir()
	first, err := loadInstance(dir, prefixes("10.244.0.0/24", "10.213.0.0/16", "192.0.2.0/24"))
	if err != nil {
		t.Fatal(err)
	}
	if !netip.MustParsePrefix("172.27.0.0/16").Overlaps(first.Link) {
		t.Errorf("link %v: want one of the second range, the first is taken", first.Link)
	}
	if got := first.Pods.String(); got != "10.52.0.0/16" {
		t.Errorf("range of Pods %s, want the second: the first is taken", got)
	}
	again, err := loadInstance(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("a second start chose anew:\n%s", diff)
	}
	moved, err := loadInstance(dir, []netip.Prefix{first.Link})
	if err != nil {
		t.Fatal(err)
	}
	if moved.Link == first.Link || moved.ID != first.ID {
		t.Errorf("taken link: got %v of %s, want another link of the same instance %s", moved.Link, moved.ID, first.ID)
	}
}

func TestInstancesOfTwoFoldersDiffer(t *testing.T) {
	a, err := loadInstance(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := loadInstance(t.TempDir(), []netip.Prefix{a.Link})
	if err != nil {
		t.Fatal(err)
	}
	if a.Link == b.Link || a.linkName() == b.linkName() || a.cgroup() == b.cgroup() {
		t.Errorf("two instances share something: %+v, %+v", a, b)
	}
	if len(a.linkName()) > 15 {
		t.Errorf("link name %q is longer than Linux allows", a.linkName())
	}
}

func TestNoFreeRangeIsAnError(t *testing.T) {
	_, err := loadInstance(t.TempDir(), prefixes("10.0.0.0/8", "172.16.0.0/12", "198.18.0.0/15"))
	if err == nil || !strings.Contains(err.Error(), "in use on this machine") {
		t.Errorf("error = %v, want one that says what is in use", err)
	}
}

func TestBrokenInstanceFileIsNamed(t *testing.T) {
	for _, text := range []string{"", "{", `{"id":"../../x"}`} {
		dir := t.TempDir()
		path := filepath.Join(dir, "instance.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadInstance(dir, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error = %v, want one that names %s", text, err, path)
		}
	}
}

func TestParseRoutes(t *testing.T) {
	const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth0	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
tun0	0000500A	00000000	0001	0	0	0	0000F0FF	0	0	0
`
	got, err := parseRoutes(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	if want := prefixes("192.0.2.0/24", "10.80.0.0/12"); !cmp.Equal(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })) {
		t.Errorf("parseRoutes = %v, want %v", got, want)
	}
	if _, err := parseRoutes(strings.NewReader("eth0 xyz 0 0 0 0 0 zz\n")); err == nil {
		t.Error("a line that cannot be read is not an error")
	}
}
