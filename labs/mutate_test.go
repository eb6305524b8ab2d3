package labs_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/podproof/podproof/labs"
)

// TestNoFileMakesLoadOrLintPanic breaks the files of a sound lab in ways that
// people and editors do: a line lost, doubled, moved in, or another value.
func TestNoFileMakesLoadOrLintPanic(t *testing.T) {
	original := sound(t)
	var names []string
	for name := range original {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		files := fstest.MapFS{}
		for name, f := range original {
			files[name] = f
		}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			name := rapid.SampledFrom(append(names, "demo/web/task.yaml", "demo/web/task.yaml")).Draw(t, "file")
			lines := strings.SplitAfter(string(files[name].Data), "\n")
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				lines[i] = ""
			case 1:
				lines[i] += lines[i]
			case 2:
				lines[i] = "  " + lines[i]
			case 3:
				value := rapid.SampledFrom([]string{"null", "[]", "{}", "[{}]", "5", "x", `"{{.grace}}"`, "{{", "&a b", "*a", "!!binary x", "? y"})
				if key, _, ok := strings.Cut(lines[i], ":"); ok {
					lines[i] = key + ": " + value.Draw(t, "value") + "\n"
				}
			case 4:
				cut := rapid.IntRange(0, len(lines[i])).Draw(t, "cut")
				lines[i] = lines[i][:cut]
			}
			files[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}
		}
		catalog, _ := labs.Load(files)
		labs.Lint(catalog)
	})
}
