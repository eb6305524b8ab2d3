package grader_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// spoken maps every message ID in the sources to the names of its values.
func spoken(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "Msg" {
				return true
			}
			id := literal(call.Args[0])
			if id == "" {
				t.Errorf("%s: a message ID that is no literal", name)
				return true
			}
			var args []string
			for i := 1; i < len(call.Args); i += 2 {
				args = append(args, literal(call.Args[i]))
			}
			if len(call.Args)%2 == 0 || slices.Contains(args, "") {
				t.Errorf("%s: message %s: values do not come as name, value", name, id)
			}
			slices.Sort(args)
			if before, twice := said[id]; twice && !slices.Equal(before, args) {
				t.Errorf("%s: message %s is given %v here and %v elsewhere", name, id, args, before)
			}
			said[id] = args
			return true
		})
	}
	return said
}

func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		s, err := strconv.Unquote(l.Value)
		if err == nil {
			return s
		}
	}
	return ""
}

var action = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

func TestEveryMessageStandsInBothLanguagesWithItsValues(t *testing.T) {
	said := spoken(t)
	for _, lang := range []string{"en", "ja"} {
		data, err := os.ReadFile(filepath.Join("..", "internal", "text", "catalog", lang, "grader.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := yaml.Unmarshal(data, &texts); err != nil {
			t.Fatal(err)
		}
		for id, args := range said {
			text, ok := texts[id]
			if !ok {
				t.Errorf("%s: no text for %s", lang, id)
				continue
			}
			used := []string{}
			for _, m := range action.FindAllStringSubmatch(text, -1) {
				used = append(used, m[1])
			}
			slices.Sort(used)
			used = slices.Compact(used)
			for _, name := range used {
				if !slices.Contains(args, name) {
					t.Errorf("%s: %s uses %q, which is never given: %v", lang, id, name, args)
				}
			}
		}
		for id := range texts {
			if _, ok := said[id]; !ok {
				t.Errorf("%s: nobody says %s", lang, id)
			}
		}
	}
}

// A value that one language shows and the other leaves out is a fact lost.
func TestBothLanguagesTellTheSameValues(t *testing.T) {
	texts := map[string]map[string]string{}
	for _, lang := range []string{"en", "ja"} {
		data, err := os.ReadFile(filepath.Join("..", "internal", "text", "catalog", lang, "grader.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]string{}
		if err := yaml.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		texts[lang] = m
	}
	for id, en := range texts["en"] {
		var a, b []string
		for _, m := range action.FindAllStringSubmatch(en, -1) {
			a = append(a, m[1])
		}
		for _, m := range action.FindAllStringSubmatch(texts["ja"][id], -1) {
			b = append(b, m[1])
		}
		slices.Sort(a)
		slices.Sort(b)
		if diff := cmp.Diff(slices.Compact(a), slices.Compact(b)); diff != "" {
			t.Errorf("%s (-en +ja):\n%s", id, diff)
		}
	}
}
