package labs_test

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/podproof/podproof/labs"
)

func compile(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func TestSchemaTakesEveryEmbeddedFile(t *testing.T) {
	for pattern, s := range map[string]*jsonschema.Schema{
		"*/*/task.yaml": compile(t, labs.Schema()), "*/lab.yaml": compile(t, labs.LabSchema()),
	} {
		names, err := fs.Glob(labs.Embedded(), pattern)
		if err != nil || len(names) == 0 {
			t.Errorf("no embedded %s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(labs.Embedded(), name)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(t, s, data); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSchemaRefusesWhatLoadRefuses(t *testing.T) {
	s := compile(t, labs.Schema())
	files := sound(t)
	if err := validate(t, s, files["demo/web/task.yaml"].Data); err != nil {
		t.Fatalf("the sound task: %v", err)
	}
	for _, x := range []struct{ old, replacement string }{
		{"difficulty: 1", "dificulty: 1"},
		{"difficulty: 1", "difficulty: 4"},
		{"points: 1", `points: "1"`},
		{"within: 20s", "within: 20"},
		{"within: 20s", "within: soon"},
		{"status: 404", "statsu: 404"},
		{"kind: Task", "kind: Lab"},
		{"id: serves", "id: Serves"},
		{", says: web", ""},
		{"{en: The image, ja: イメージ}", "{en: The image}"},
		{"oneOf: [35, 45]", "oneOf: []"},
	} {
		changed := sound(t)
		replace(t, changed, "demo/web/task.yaml", x.old, x.replacement)
		if err := validate(t, s, changed["demo/web/task.yaml"].Data); err == nil {
			t.Errorf("%s => %s: the schema takes it", x.old, x.replacement)
		}
	}
}
