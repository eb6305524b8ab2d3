package labs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// Schema is the JSON Schema (draft 2020-12) of task.yaml, for editors.
func Schema() []byte { return schemaOf(taskFile{}) }

// LabSchema is the JSON Schema of lab.yaml.
func LabSchema() []byte { return schemaOf(labFile{}) }

func schemaOf(v any) []byte {
	r := &jsonschema.Reflector{
		Anonymous:                  true,
		RequiredFromJSONSchemaTags: true,
		ExpandedStruct:             true,
		Mapper:                     mapType,
	}
	out, err := json.MarshalIndent(r.Reflect(v), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("labs: schema: %v", err)) // the types are ours and fixed
	}
	return append(out, '\n')
}

// action is a scalar that the task's params fill in.
const action = `\{\{.*\}\}`

// mapType describes types whose YAML is wider than their Go kind: where a
// number or a boolean stands, a template action may stand too.
func mapType(t reflect.Type) *jsonschema.Schema {
	var s *jsonschema.Schema
	switch {
	case t == durationType:
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$|` + action}
	case t.Kind() == reflect.Bool:
		s = &jsonschema.Schema{Type: "boolean"}
	case strings.HasPrefix(t.Kind().String(), "int"):
		s = &jsonschema.Schema{Type: "integer"}
	default:
		return nil
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "string", Pattern: action}}}
}
