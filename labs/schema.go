package labs

import (
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// Schema is the JSON Schema (draft 2020-12) of task.yaml, for editors.
func Schema() []byte { return schemaOf(taskFile{}) }

// LabSchema is the JSON Schema of lab.yaml.
func LabSchema() []byte { return schemaOf(labFile{}) }

// typeSources are the files that hold the types of the schemas; their comments
// become descriptions.
//
//go:embed lab.go check.go load.go
var typeSources embed.FS

func schemaOf(v any) []byte {
	comments := typeComments()
	r := &jsonschema.Reflector{
		Anonymous:                  true,
		RequiredFromJSONSchemaTags: true,
		ExpandedStruct:             true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t != durationType {
				return nil
			}
			return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$|` + action}
		},
		LookupComment: func(t reflect.Type, field string) string {
			return comments[strings.TrimSuffix(t.Name()+"."+field, ".")]
		},
	}
	s := r.Reflect(v)
	allowActions(s)
	for _, d := range s.Definitions {
		allowActions(d)
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("labs: schema: %v", err)) // the types are ours and fixed
	}
	return append(out, '\n')
}

// action is a scalar that the task's params fill in.
const action = `\{\{.*\}\}`

// allowActions lets a template action stand wherever a number, a boolean or
// one of a few words does.
func allowActions(s *jsonschema.Schema) {
	widen := func(x *jsonschema.Schema) *jsonschema.Schema {
		if x == nil {
			return nil
		}
		allowActions(x)
		if x.Type != "integer" && x.Type != "boolean" && len(x.Enum) == 0 {
			return x
		}
		inner := *x
		inner.Description = ""
		return &jsonschema.Schema{Description: x.Description, AnyOf: []*jsonschema.Schema{&inner, {Type: "string", Pattern: action}}}
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value = widen(p.Value)
	}
	s.Items = widen(s.Items)
	s.AdditionalProperties = widen(s.AdditionalProperties)
}

// typeComments reads the comments of types, "Check", and fields, "Check.ID".
func typeComments() map[string]string {
	out := map[string]string{}
	entries, err := typeSources.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("labs: schema: %v", err)) // embedded
	}
	for _, e := range entries {
		text, err := typeSources.ReadFile(e.Name())
		if err != nil {
			panic(fmt.Sprintf("labs: schema: %v", err)) // embedded
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), text, parser.ParseComments)
		if err != nil {
			panic(fmt.Sprintf("labs: schema: %v", err)) // it has been compiled
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				noteComments(out, g)
			}
		}
	}
	return out
}

func noteComments(out map[string]string, g *ast.GenDecl) {
	oneLine := func(groups ...*ast.CommentGroup) string {
		for _, c := range groups {
			if c != nil {
				return strings.Join(strings.Fields(c.Text()), " ")
			}
		}
		return ""
	}
	for _, s := range g.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		out[spec.Name.Name] = oneLine(spec.Doc, g.Doc)
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				out[spec.Name.Name+"."+name.Name] = oneLine(f.Doc, f.Comment)
			}
		}
	}
}
