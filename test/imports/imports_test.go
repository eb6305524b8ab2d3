// Package imports_test holds the directions in which packages may import each
// other, direct or not; docs/architecture.md tells why.
package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/podproof/podproof/"

// rules: no package below one of from may depend on one below one of to, even
// by way of others; for packages of the standard library only its own imports
// count. unless lists exceptions of from.
func rules() []rule {
	outer := []string{"web", "cmd", "internal/app", "test"}
	stores := []string{"database/sql", "modernc.org/sqlite", module + "internal/sqlite"}
	clients := []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic", module + "internal/kube"}
	return []rule{
		{from: []string{"labs", "grader", "internal"}, unless: []string{"internal/app"}, to: in(outer...)},
		{from: []string{"web"}, to: in("cmd", "internal/app", "test")},
		{from: []string{"cmd", "internal/app"}, to: in("test")},
		{from: []string{"labs"}, to: append(in("grader", "internal"), "net/http", "database/sql", "k8s.io/client-go")},
		{from: []string{"grader"}, to: append(in("internal"), slices.Concat(stores, clients)...)},
		{from: []string{"internal/study"}, to: slices.Concat(stores, clients, in("internal/cluster", "internal/config"))},
		{from: []string{"web"}, to: slices.Concat(stores, clients, in("internal/cluster", "internal/config"))},
		{from: []string{"web/view"}, to: in("internal", "grader", "labs")},
		{from: []string{"internal/kube"}, to: append(in("internal/study", "internal/sqlite", "internal/cluster"), "database/sql")},
		{from: []string{"internal/sqlite"}, to: clients},
		{from: []string{"internal/cluster"}, to: in("internal/study", "internal/kube", "internal/sqlite", "grader", "labs")},
		{from: []string{"internal/text"}, to: in("internal/study", "internal/kube", "internal/sqlite")},
		{from: []string{"internal/live", "internal/terminal"}, to: in("labs", "grader", "internal/study", "internal/kube")},
	}
}

type rule struct{ from, unless, to []string }

func in(names ...string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, module+n)
	}
	return out
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func TestImportsRunOneWay(t *testing.T) {
	packages := list(t)
	for _, r := range rules() {
		for _, p := range packages {
			if !below(p.ImportPath, in(r.from...)) || below(p.ImportPath, in(r.unless...)) {
				continue
			}
			// What other modules do with the standard library is their affair.
			reached := slices.Concat(p.Imports, slices.DeleteFunc(slices.Clone(p.Deps), standard))
			for _, d := range reached {
				if below(d, r.to) && !below(d, []string{p.ImportPath}) {
					t.Errorf("%s depends on %s", p.ImportPath, d)
				}
			}
		}
	}
}

func TestOnlyTheWiringImportsEveryPart(t *testing.T) {
	for _, p := range list(t) {
		if below(p.ImportPath, in("cmd", "internal/app", "test")) {
			continue
		}
		n := 0
		for _, part := range in("web", "internal/sqlite", "internal/kube") {
			if slices.Contains(p.Deps, part) {
				n++
			}
		}
		if n > 1 {
			t.Errorf("%s wires parts together; that is for internal/app", p.ImportPath)
		}
	}
}

func below(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,Deps", module+"...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []pkg
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module) {
			packages = append(packages, p)
		}
	}
	if len(packages) < 10 {
		t.Fatalf("go list knows only %d packages of ours", len(packages))
	}
	return packages
}
