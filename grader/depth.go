package grader

import (
	"reflect"
	"strings"
)

// place is where a field of some name was found in an object.
type place struct {
	path  string
	value any
}

// misplaced enriches a failure with the place at which the field stands
// instead, and what it does there.
func misplaced(o *object, segs []segment, wanted []any, f finding) finding {
	name := segs[len(segs)-1].name
	var found *place
	for _, p := range findField(o, name) {
		if p.path == f.Path {
			continue
		}
		if wanted == nil || contains(wanted, p.value) {
			found = &p
			break
		}
	}
	if found == nil {
		return f
	}
	m := Msg("field.misplaced", "field", name, "path", f.Path, "found", found.path)
	moved := fail(m).at(f.Path).compared(f.Expected, f.Observed)
	if why, ok := purpose(o.kind, name, found.path); ok {
		moved = moved.why(why)
	}
	return moved
}

func contains(wanted []any, have any) bool {
	for _, w := range wanted {
		if text(w) == text(have) {
			return true
		}
	}
	return false
}

// findField lists every place at which an object has a field of this name that
// could be meant: below its spec, labels and annotations included.
func findField(o *object, name string) []place {
	var out []place
	root := reflect.ValueOf(o.value).Elem()
	for _, part := range []string{"metadata", "spec"} {
		if v, ok := fieldValue(root, part); ok {
			walk(v, part, name, &out)
		}
	}
	return out
}

func walk(v reflect.Value, path, name string, out *[]place) {
	v = set(v)
	if !v.IsValid() || leaf(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			field := jsonName(t.Field(i))
			if field == "managedFields" {
				continue
			}
			at := path + "." + field
			if field == "" {
				at = path
			}
			x := value{Value: set(v.Field(i))}
			if field == name && !x.empty() && leaf(x.Type()) {
				*out = append(*out, place{at, x.plain()})
				continue
			}
			walk(v.Field(i), at, name, out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			key := itoa(i)
			if item := set(v.Index(i)); item.IsValid() && item.Kind() == reflect.Struct {
				if n, ok := fieldValue(item, "name"); ok && n.Kind() == reflect.String {
					key = n.String()
				}
			}
			walk(v.Index(i), path+"["+key+"]", name, out)
		}
	}
}

// purpose says what a field does at the place where it was found.
func purpose(k Kind, name, path string) (Message, bool) {
	inPod := k == KindPod && strings.HasPrefix(path, "spec.") || strings.Contains(path, "template.spec.")
	inContainer := strings.Contains(path, "ontainers[")
	inProbe := strings.Contains(path, "Probe.")
	switch name {
	case "activeDeadlineSeconds":
		if inPod {
			return Msg("depth.activeDeadline.pod"), true
		}
		return Msg("depth.activeDeadline.job"), true
	case "terminationGracePeriodSeconds":
		if inProbe {
			return Msg("depth.grace.probe"), true
		}
		return Msg("depth.grace.pod"), true
	case "restartPolicy":
		if inContainer {
			return Msg("depth.restartPolicy.container"), true
		}
		return Msg("depth.restartPolicy.pod"), true
	case "suspend":
		if strings.Contains(path, "jobTemplate") {
			return Msg("depth.suspend.job"), true
		}
		return Msg("depth.suspend.cronJob"), true
	case "runAsUser", "runAsNonRoot", "runAsGroup":
		if inContainer {
			return Msg("depth.security.container"), true
		}
		return Msg("depth.security.pod"), true
	default:
		return Message{}, false
	}
}
