package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		p := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestControlGroupsOfBothVersions(t *testing.T) {
	for name, c := range map[string]struct {
		files, want []string
	}{
		"version 2":         {[]string{"cgroup.controllers", "cgroup.procs", "system.slice/cgroup.procs"}, []string{"."}},
		"version 1":         {[]string{"cpu/cgroup.procs", "memory/cgroup.procs", "notes/readme"}, []string{"cpu", "memory"}},
		"version 1, hybrid": {[]string{"memory/cgroup.procs", "unified/cgroup.procs", "unified/cgroup.controllers"}, []string{"memory", "unified"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, c.files...)
			found, err := cgroupHierarchies(root)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				rel, _ := filepath.Rel(root, f)
				got = append(got, rel)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := cgroupHierarchies(t.TempDir()); err == nil {
		t.Error("no control groups at all is not an error")
	}
}

func TestRemovingAControlGroupTakesTheOnesBelow(t *testing.T) {
	root := tree(t, "memory/cgroup.procs", "pids/cgroup.procs")
	for _, d := range []string{"memory/podproof-x/kubepods/pod1/c", "pids/podproof-x/kubepods"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time there is nothing to do
		if err := removeCgroup(t.Context(), root, "podproof-x"); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*", "podproof-x")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
