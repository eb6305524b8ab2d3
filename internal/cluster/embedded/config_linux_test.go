package embedded

import (
	"flag"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files")

func testInstance() instance {
	return instance{
		ID: "0123abcd", Link: netip.MustParsePrefix("10.213.0.8/30"),
		Pods: netip.MustParsePrefix("10.244.0.0/16"), Services: netip.MustParsePrefix("10.96.0.0/16"),
	}
}

// Every setting is in the golden files, so that a change of one is seen in review.
func TestSettingsFollowTheHost(t *testing.T) {
	hosts := map[string]host{
		"capable": {
			MayLowerOOMScore: true, AppArmor: true, Snapshotter: "overlayfs", CNI: "/usr/lib/cni", Runc: "/usr/sbin/runc",
			Resolvers: []netip.Addr{netip.MustParseAddr("192.0.2.53"), netip.MustParseAddr("192.0.2.54")},
		},
		"restricted": {Snapshotter: "native", CNI: "/opt/cni/bin", Runc: "/usr/local/bin/runc"},
	}
	for name, h := range hosts {
		t.Run(name, func(t *testing.T) {
			s := newSettings(testInstance(), h)
			files, err := s.files()
			if err != nil {
				t.Fatal(err)
			}
			var got txtar.Archive
			for _, name := range slices.Sorted(maps.Keys(files)) {
				got.Files = append(got.Files, txtar.File{Name: name, Data: files[name]})
			}
			for _, c := range s.commands() {
				lines := strings.Join(append(append([]string{c.name}, c.args...), c.env...), "\n")
				got.Files = append(got.Files, txtar.File{Name: "command/" + c.name, Data: []byte(lines + "\n")})
			}
			golden := filepath.Join("testdata", name+".txtar")
			if *update {
				if err := os.WriteFile(golden, txtar.Format(&got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(&got))); diff != "" {
				t.Errorf("settings changed (go test -update writes them anew):\n%s", diff)
			}
		})
	}
}

func TestHasCapability(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tx\nCapEff:\t000001ffffffffff\n": true,
		"Name:\tx\nCapEff:\t000001fffeffffff\n": false,
		"Name:\tx\n":                            false,
	} {
		if got := hasCapability(status, capSysResource); got != want {
			t.Errorf("hasCapability(%q) = %v, want %v", status, got, want)
		}
	}
}

func TestOnlyResolversThatTheNodeCanReach(t *testing.T) {
	conf := "# comment\nsearch example.com\nnameserver 127.0.0.53\nnameserver ::1\nnameserver 192.0.2.1\nnameserver\n"
	got := parseResolvers([]byte(conf))
	if want := []netip.Addr{netip.MustParseAddr("192.0.2.1")}; len(got) != 1 || got[0] != want[0] {
		t.Errorf("parseResolvers = %v, want %v", got, want)
	}
}
