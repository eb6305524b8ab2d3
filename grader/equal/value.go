package equal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Value compares two JSON values of a field by meaning. As says how: quantity,
// image, cron, command, duration, port, path or text; where it is empty, the
// field's path decides ("container[web].image" as an image).
//
// Of a mapping only the wanted keys count. A list of mappings must hold each
// wanted one, in any order; other lists must be the same, element by element.
// Scalars are compared as text, numbers as numbers: 5 is "5" and 5.0.
func Value(fieldPath string, want, got any, as string) (Compared, error) {
	if want == nil {
		return Compared{}, fmt.Errorf("field %s: no wanted value", fieldPath)
	}
	if as == "" {
		as = kindOf(fieldPath)
	}
	f, err := compareForms(fieldPath, want, got, as)
	if err != nil {
		return Compared{}, fmt.Errorf("field %s: %w", fieldPath, err)
	}
	return Compared{text(f.want), text(f.got), f.equal}, nil
}

// forms are the normal forms of two values, not yet written as text.
type forms struct {
	want, got any
	equal     bool
}

func formsOf(c Compared, err error) (forms, error) { return forms{c.Want, c.Got, c.Equal}, err }

func compareForms(fieldPath string, want, got any, as string) (forms, error) {
	switch as {
	case "command":
		w, err := words(want)
		if err != nil {
			return forms{}, err
		}
		g, err := words(got)
		if err != nil {
			return forms{want: shellJoin(normalArgv(w)), got: got}, nil
		}
		return formsOf(Command(w, g))
	case "quantity", "image", "cron", "duration", "port", "path":
		switch want.(type) {
		case map[string]any, []any:
		default:
			return formsOf(scalar(as, text(want), text(got)))
		}
	case "text", "":
	default:
		return forms{}, fmt.Errorf("values can't be compared as %q", as)
	}
	switch w := want.(type) {
	case map[string]any:
		return mapping(fieldPath, w, got, as)
	case []any:
		return list(fieldPath, w, got, as)
	}
	return formsOf(compare(text(want), text(got)), nil)
}

func scalar(as, want, got string) (Compared, error) {
	switch as {
	case "quantity":
		return Quantity(want, got)
	case "image":
		return Image(want, got)
	case "cron":
		return Cron(Schedule{Spec: want}, Schedule{Spec: got})
	case "duration":
		return Duration(want, got)
	case "port":
		return Port(want, got, nil)
	}
	return Path(want, got)
}

// kindOf tells from a field's path how its values compare.
func kindOf(fieldPath string) string {
	fields := strings.Split(fieldPath, ".")
	last, _, _ := strings.Cut(fields[len(fields)-1], "[")
	parent := ""
	if len(fields) > 1 {
		parent = fields[len(fields)-2]
	}
	switch {
	case last == "image":
		return "image"
	case last == "schedule":
		return "cron"
	case last == "command":
		return "command"
	case last == "mountPath", last == "workingDir", last == "subPath", last == "path" && parent == "hostPath":
		return "path"
	case last == "port", last == "containerPort", last == "hostPort", last == "targetPort":
		return "port"
	case last == "sizeLimit", last == "requests", last == "limits", parent == "requests", parent == "limits",
		parent == "hard", parent == "capacity":
		return "quantity"
	}
	return ""
}

// inner is how a part of a value compares: as its own path says, or else as
// the whole does.
func inner(fieldPath, as string) string {
	if as == "text" {
		return as
	}
	if k := kindOf(fieldPath); k != "" {
		return k
	}
	return as
}

func mapping(fieldPath string, want map[string]any, got any, as string) (forms, error) {
	g, ok := got.(map[string]any)
	w, have := map[string]any{}, map[string]any{}
	equal := ok
	for key, x := range want {
		part := fieldPath + "." + key
		y, found := g[key]
		f, err := compareForms(part, x, y, inner(part, as))
		if err != nil {
			return forms{}, fmt.Errorf("%s: %w", key, err)
		}
		w[key] = f.want
		if found {
			have[key] = f.got
		}
		equal = equal && found && f.equal
	}
	if !ok {
		return forms{want: w, got: got}, nil
	}
	return forms{w, have, equal}, nil
}

func list(fieldPath string, want []any, got any, as string) (forms, error) {
	g, ok := got.([]any)
	anyOrder := len(want) > 0
	for _, x := range want {
		if _, isMap := x.(map[string]any); !isMap {
			anyOrder = false
		}
	}
	w := make([]any, len(want))
	table := make([][]bool, len(want)) // which of got each wanted element equals
	for i, x := range want {
		table[i] = make([]bool, len(g))
		f, err := compareForms(fieldPath, x, nil, inner(fieldPath, as))
		if err != nil {
			return forms{}, fmt.Errorf("element %d: %w", i, err)
		}
		w[i] = f.want
		for j, y := range g {
			if f, err = compareForms(fieldPath, x, y, inner(fieldPath, as)); err != nil {
				return forms{}, fmt.Errorf("element %d: %w", i, err)
			}
			table[i][j] = f.equal
		}
	}
	equal := ok
	if anyOrder {
		equal = equal && assign(table, len(g))
	} else {
		equal = equal && len(want) == len(g)
		for i := range table {
			equal = equal && table[i][i]
		}
	}
	if equal {
		return forms{w, w, true}, nil
	}
	return forms{want: w, got: got}, nil
}

// assign reports whether each row can have a column of its own (a bipartite
// matching by augmenting paths).
func assign(table [][]bool, columns int) bool {
	owner := make([]int, columns)
	for j := range owner {
		owner[j] = -1
	}
	var place func(row int, tried []bool) bool
	place = func(row int, tried []bool) bool {
		for j, fits := range table[row] {
			if !fits || tried[j] {
				continue
			}
			tried[j] = true
			if owner[j] < 0 || place(owner[j], tried) {
				owner[j] = row
				return true
			}
		}
		return false
	}
	for row := range table {
		if !place(row, make([]bool, columns)) {
			return false
		}
	}
	return true
}

// words reads an argument vector; one text is a vector of itself.
func words(v any) ([]string, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []string:
		return v, nil
	case []any:
		out := make([]string, len(v))
		for i, x := range v {
			out[i] = text(x)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%v is no list of words", v)
}

// text is the normal form of a JSON value: scalars bare, numbers in their
// shortest form, the rest as JSON.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case int, int32, int64, uint, uint32, uint64, int8, int16, uint8, uint16:
		return fmt.Sprint(v)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
