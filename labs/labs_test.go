package labs_test

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/podproof/podproof/labs"
)

var update = flag.Bool("update", false, "rewrite the wanted problems in testdata")

// sound reads the lab that the archives edit.
func sound(t testing.TB) fstest.MapFS {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/sound.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return files
}

// edit changes files as an archive says: a file of the archive replaces one or
// is added; the lines of "edits" are "delete FILE" or "FILE: OLD => NEW"; "copy"
// names a folder and its copy.
func edit(t *testing.T, files fstest.MapFS, archive *txtar.Archive) {
	t.Helper()
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
		case "copy":
			from, to, _ := strings.Cut(strings.TrimSpace(string(f.Data)), " ")
			for name, file := range maps.Clone(files) {
				if rest, ok := strings.CutPrefix(name, from+"/"); ok {
					files[to+"/"+rest] = file
				}
			}
		case "edits":
			for line := range strings.Lines(string(f.Data)) {
				editLine(t, files, strings.TrimRight(line, "\n"))
			}
		default:
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
}

func editLine(t *testing.T, files fstest.MapFS, line string) {
	t.Helper()
	unescape := strings.NewReplacer(`\n`, "\n").Replace
	if name, ok := strings.CutPrefix(line, "delete "); ok {
		if files[name] == nil {
			t.Fatalf("edit %q: no such file", line)
		}
		delete(files, name)
		return
	}
	name, change, _ := strings.Cut(line, ": ")
	old, replacement, ok := strings.Cut(change, " => ")
	f := files[name]
	if f == nil || !ok || !strings.Contains(string(f.Data), unescape(old)) {
		t.Fatalf("edit %q: nothing to change", line)
	}
	files[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(f.Data), unescape(old), unescape(replacement), 1))}
}

// TestProblems loads and lints each edited lab and compares all that is reported.
func TestProblems(t *testing.T) {
	for _, kind := range []string{"load", "lint"} {
		names, err := filepath.Glob("testdata/" + kind + "/*.txtar")
		if err != nil || len(names) == 0 {
			t.Fatalf("no archives for %s: %v", kind, err)
		}
		for _, name := range names {
			t.Run(kind+"/"+strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(name)
				if err != nil {
					t.Fatal(err)
				}
				files := sound(t)
				edit(t, files, archive)
				got := problemsOf(t, kind, files)
				compare(t, name, archive, got)
			})
		}
	}
}

func problemsOf(t *testing.T, kind string, files fs.FS) string {
	t.Helper()
	catalog, err := labs.Load(files)
	var problems labs.Problems
	if err != nil && !errors.As(err, &problems) {
		t.Fatalf("Load failed otherwise than by problems: %v", err)
	}
	if kind == "lint" {
		if err != nil {
			t.Fatalf("Load must find a lab to lint sound: %v", err)
		}
		problems = labs.Lint(catalog)
	}
	return problems.Error() + "\n"
}

func compare(t *testing.T, name string, archive *txtar.Archive, got string) {
	t.Helper()
	for i, f := range archive.Files {
		if f.Name != "want" {
			continue
		}
		if *update {
			archive.Files[i].Data = []byte(got)
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if diff := cmp.Diff(string(f.Data), got); diff != "" {
			t.Errorf("problems differ (-want +got):\n%s", diff)
		}
		return
	}
	t.Fatal("the archive says not what it wants")
}

func TestSoundLabHasNoProblem(t *testing.T) {
	catalog, err := labs.Load(sound(t))
	if err != nil {
		t.Fatal(err)
	}
	if problems := labs.Lint(catalog); len(problems) > 0 {
		t.Error(problems)
	}
}
