package labs

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// decoder fills Go values from YAML nodes strictly, by their json tags and the
// constraints of their jsonschema tags. Every problem is noted with its place,
// and decoding goes on.
type decoder struct {
	file     string
	problems Problems
	// either holds scalars that a template action made: quoted in the source,
	// typed by their value, they serve as text too.
	either map[*yaml.Node]bool
}

func (d *decoder) problem(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.file, n.Line, n.Column, fmt.Sprintf(format, args...)})
}

// rules are what a jsonschema tag asks of a value.
type rules struct {
	required bool
	enum     []string
	pattern  *regexp.Regexp
	min, max *float64
	minItems int
}

// member is a field of a struct, perhaps inherited from an inlined one.
type member struct {
	name  string
	index []int
	rules rules
}

// tables holds the members of every struct that a lab's files are decoded into.
var tables = sync.OnceValue(func() map[reflect.Type][]member {
	out := map[reflect.Type][]member{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(t.Elem())
		case reflect.Struct:
			if _, known := out[t]; known {
				return
			}
			out[t] = readMembers(t)
			for i := range t.NumField() {
				visit(t.Field(i).Type)
			}
		}
	}
	visit(reflect.TypeFor[taskFile]())
	visit(reflect.TypeFor[labFile]())
	return out
})

func members(t reflect.Type) []member { return tables()[t] }

func readMembers(t reflect.Type) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && (name == "" || strings.Contains(options, "inline")):
			for _, m := range readMembers(f.Type) {
				m.index = append([]int{i}, m.index...)
				out = append(out, m)
			}
		case name != "":
			out = append(out, member{name, []int{i}, parseRules(f.Tag.Get("jsonschema"))})
		}
	}
	return out
}

func parseRules(tag string) rules {
	var r rules
	for _, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "required":
			r.required = true
		case "enum":
			r.enum = append(r.enum, value)
		case "pattern":
			r.pattern = regexp.MustCompile(value)
		case "minItems":
			r.minItems, _ = strconv.Atoi(value)
		case "minimum", "maximum":
			if v, err := strconv.ParseFloat(value, 64); err == nil && key == "minimum" {
				r.min = &v
			} else if err == nil {
				r.max = &v
			}
		}
	}
	return r
}

var durationType = reflect.TypeFor[Duration]()

// decode fills v, which must be settable, from n.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, r rules) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		d.problem(n, "anchors and aliases are not supported: write the value out")
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		d.decodeStruct(n, v)
	case reflect.Map:
		d.decodeMap(n, v, r)
	case reflect.Slice:
		d.decodeSlice(n, v, r)
	case reflect.Interface:
		if x := d.value(n); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		d.decodeScalar(n, v, r)
	}
}

func (d *decoder) decodeStruct(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.problem(n, "this must be a mapping, not %s", describe(n))
		return
	}
	all := members(v.Type())
	seen := map[string]bool{}
	d.pairs(n, func(key, value *yaml.Node) {
		i := slices.IndexFunc(all, func(m member) bool { return m.name == key.Value })
		if i < 0 {
			names := make([]string, len(all))
			for i, m := range all {
				names[i] = m.name
			}
			d.problem(key, "unknown key %q%s", key.Value, didYouMean(key.Value, names))
			return
		}
		seen[key.Value] = true
		d.decode(value, v.FieldByIndex(all[i].index), all[i].rules)
	})
	for _, m := range all {
		if m.rules.required && !seen[m.name] {
			d.problem(n, "missing key %q", m.name)
		}
	}
}

func (d *decoder) decodeMap(n *yaml.Node, v reflect.Value, r rules) {
	if n.Kind != yaml.MappingNode {
		d.problem(n, "this must be a mapping, not %s", describe(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, func(key, value *yaml.Node) {
		x := reflect.New(v.Type().Elem()).Elem()
		d.decode(value, x, rules{})
		v.SetMapIndex(reflect.ValueOf(key.Value), x)
	})
	if r.required && v.Len() == 0 {
		d.problem(n, "this must not be empty")
	}
}

func (d *decoder) decodeSlice(n *yaml.Node, v reflect.Value, r rules) {
	if n.Kind != yaml.SequenceNode {
		d.problem(n, "this must be a list, not %s", describe(n))
		return
	}
	if len(n.Content) < r.minItems {
		d.problem(n, "this needs at least %d item(s), not %d", r.minItems, len(n.Content))
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.decode(item, v.Index(i), rules{})
	}
}

func (d *decoder) decodeScalar(n *yaml.Node, v reflect.Value, r rules) {
	if n.Kind != yaml.ScalarNode {
		d.problem(n, "this must be %s, not %s", describeKind(v), describe(n))
		return
	}
	tag := n.ShortTag()
	fits := false
	switch {
	case v.Type() == durationType:
		if fits = tag == "!!str"; fits {
			if err := v.Addr().Interface().(*Duration).UnmarshalText([]byte(n.Value)); err != nil {
				d.problem(n, "%v", err)
				return
			}
		}
	case v.Kind() == reflect.String:
		if fits = tag == "!!str" || d.either[n] && tag != "!!null"; fits {
			v.SetString(n.Value)
		}
	case v.Kind() == reflect.Bool:
		if fits = tag == "!!bool"; fits {
			fits = n.Decode(v.Addr().Interface()) == nil
		}
	case v.CanInt():
		if fits = tag == "!!int"; fits {
			fits = n.Decode(v.Addr().Interface()) == nil
		}
	}
	if !fits {
		hint := ""
		if v.Kind() == reflect.String && tag != "!!null" {
			hint = "; put it in quotes"
		}
		d.problem(n, "this must be %s, not %s%s", describeKind(v), describe(n), hint)
		return
	}
	d.check(n, v, r)
}

// check holds a decoded scalar against its rules.
func (d *decoder) check(n *yaml.Node, v reflect.Value, r rules) {
	switch {
	case v.Kind() == reflect.String && r.required && strings.TrimSpace(n.Value) == "":
		d.problem(n, "this must not be empty")
	case r.enum != nil && !slices.Contains(r.enum, n.Value):
		d.problem(n, "%q is not one of %s%s", n.Value, strings.Join(r.enum, ", "), didYouMean(n.Value, r.enum))
	case r.pattern != nil && !r.pattern.MatchString(n.Value):
		d.problem(n, "%q does not match %s", n.Value, r.pattern)
	case r.min != nil && v.CanInt() && float64(v.Int()) < *r.min:
		d.problem(n, "%d is less than %v", v.Int(), *r.min)
	case r.max != nil && v.CanInt() && float64(v.Int()) > *r.max:
		d.problem(n, "%d is more than %v", v.Int(), *r.max)
	}
}

// pairs visits the pairs of a mapping, except repeated keys, which are problems.
func (d *decoder) pairs(n *yaml.Node, visit func(key, value *yaml.Node)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.problem(key, "a key must be text")
		case seen[key.Value]:
			d.problem(key, "key %q stands here twice", key.Value)
		default:
			seen[key.Value] = true
			visit(key, value)
		}
	}
}

// value decodes a node as JSON would hold it: string, int64, float64, bool,
// []any, map[string]any or nil.
func (d *decoder) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		d.pairs(n, func(key, value *yaml.Node) { out[key.Value] = d.value(value) })
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = d.value(item)
		}
		return out
	case yaml.ScalarNode:
		return scalar(n)
	}
	d.problem(n, "anchors and aliases are not supported: write the value out")
	return nil
}

// scalar decodes a scalar node; what is neither number, boolean nor null is text.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil {
			return f
		}
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!null":
		return nil
	}
	return n.Value
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the boolean " + n.Value
	}
	return "the text " + strconv.Quote(n.Value)
}

func describeKind(v reflect.Value) string {
	switch {
	case v.Type() == durationType:
		return "a duration such as 20s"
	case v.Kind() == reflect.Bool:
		return "true or false"
	case v.CanInt():
		return "a whole number"
	}
	return "text"
}

// didYouMean suggests the known name that is nearest to a mistyped one.
func didYouMean(got string, known []string) string {
	best, distance := "", len(got)/3+1
	for _, name := range known {
		if n := editDistance(strings.ToLower(got), strings.ToLower(name)); n <= distance {
			if n < distance || best == "" {
				best, distance = name, n
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

// eachPair visits the pairs of a mapping that has been decoded already.
func (d *decoder) eachPair(n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		visit(n.Content[i], n.Content[i+1])
	}
}
