package grader

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// segment is one step of a path: "spec", or "containers[web]".
type segment struct {
	name  string
	key   string
	keyed bool
}

// parsePath splits "spec.containers[web].image". A key in brackets may hold dots.
func parsePath(path string) ([]segment, error) {
	var out []segment
	for rest := path; rest != ""; {
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		seg := segment{name: rest[:end]}
		rest = rest[end:]
		if strings.HasPrefix(rest, "[") {
			stop := strings.IndexByte(rest, ']')
			if stop < 0 {
				return nil, fmt.Errorf("path %q: a bracket is not closed", path)
			}
			seg.key, seg.keyed = rest[1:stop], true
			rest = rest[stop+1:]
		}
		if seg.name == "" || (seg.keyed && seg.key == "") {
			return nil, fmt.Errorf("path %q: an empty step", path)
		}
		out = append(out, seg)
		if rest != "" {
			if rest[0] != '.' || len(rest) == 1 {
				return nil, fmt.Errorf("path %q: expected a dot before %q", path, rest)
			}
			rest = rest[1:]
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the path is empty")
	}
	return out, nil
}

// typeOf is the Go type of a kind's objects.
func typeOf(k Kind) reflect.Type {
	switch k {
	case KindPod:
		return reflect.TypeFor[corev1.Pod]()
	case KindDeployment:
		return reflect.TypeFor[appsv1.Deployment]()
	case KindJob:
		return reflect.TypeFor[batchv1.Job]()
	case KindCronJob:
		return reflect.TypeFor[batchv1.CronJob]()
	case KindService:
		return reflect.TypeFor[corev1.Service]()
	case KindConfigMap:
		return reflect.TypeFor[corev1.ConfigMap]()
	case KindSecret:
		return reflect.TypeFor[corev1.Secret]()
	default:
		return nil
	}
}

// leaf reports whether a type is a value to compare as a whole.
func leaf(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](),
		reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return true
	}
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Map && t.Kind() != reflect.Slice
}

// fieldType follows a path through the types of a kind, so that a slip in a
// lab file shows at compile time.
func fieldType(k Kind, segs []segment) (reflect.Type, error) {
	t, rest := typeOf(k), segs
	switch segs[0].name {
	case "container":
		if !segs[0].keyed {
			return nil, fmt.Errorf("container needs a name: container[web]")
		}
		t, rest = reflect.TypeFor[corev1.Container](), segs[1:]
	case "template":
		t, rest = reflect.TypeFor[corev1.PodTemplateSpec](), segs[1:]
	}
	for _, seg := range rest {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch {
		case t.Kind() == reflect.Map:
			t = t.Elem()
		case t.Kind() == reflect.Struct && !leaf(t):
			f, ok := structField(t, seg.name)
			if !ok {
				return nil, fmt.Errorf("%s has no field %q", t.Name(), seg.name)
			}
			t = f
		default:
			return nil, fmt.Errorf("nothing stands below a %s: %q", t, seg.name)
		}
		if seg.keyed {
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if t.Kind() != reflect.Slice && t.Kind() != reflect.Map {
				return nil, fmt.Errorf("%q is no list and no map", seg.name)
			}
			t = t.Elem()
		}
	}
	return t, nil
}

func structField(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if jsonName(f) == name {
			return f.Type, true
		}
		if f.Anonymous || strings.Contains(f.Tag.Get("json"), ",inline") {
			if f.Type.Kind() == reflect.Struct {
				if got, ok := structField(f.Type, name); ok {
					return got, true
				}
			}
		}
	}
	return nil, false
}

func fieldValue(v reflect.Value, name string) (reflect.Value, bool) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if jsonName(f) == name {
			return v.Field(i), true
		}
		if f.Type.Kind() == reflect.Struct && (f.Anonymous || strings.Contains(f.Tag.Get("json"), ",inline")) {
			if got, ok := fieldValue(v.Field(i), name); ok {
				return got, true
			}
		}
	}
	return reflect.Value{}, false
}

// value is what stands at a path.
type value struct {
	reflect.Value // invalid where the field is unset
	path          string
}

// resolve follows a path through an object. A step that is unset ends it: the
// value is then invalid. A container that does not exist gives a failure.
func (o *object) resolve(segs []segment) (value, *finding) {
	v, prefix, rest := reflect.ValueOf(o.value), "", segs
	switch segs[0].name {
	case "container":
		k, f := o.pick(segs[0].key)
		if k.Container == nil {
			return value{}, &f
		}
		v, prefix, rest = reflect.ValueOf(k.Container), o.in(k.path()), segs[1:]
	case "template":
		if o.template == nil {
			f := fail(Msg("object.noPods", "object", o.String())).settle()
			return value{}, &f
		}
		v, prefix, rest = reflect.ValueOf(o.template), o.templatePath, segs[1:]
	}
	path := prefix + pathText(rest, prefix != "")
	for _, seg := range rest {
		v = follow(v, seg)
		if !v.IsValid() {
			return value{path: path}, nil
		}
	}
	return value{Value: set(v), path: path}, nil
}

func pathText(segs []segment, dotted bool) string {
	var b strings.Builder
	for i, s := range segs {
		if i > 0 || dotted {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
		if s.keyed {
			b.WriteString("[" + s.key + "]")
		}
	}
	return b.String()
}

func follow(v reflect.Value, seg segment) reflect.Value {
	v = set(v)
	if !v.IsValid() {
		return v
	}
	switch v.Kind() {
	case reflect.Map:
		v = v.MapIndex(reflect.ValueOf(seg.name).Convert(v.Type().Key()))
	case reflect.Struct:
		v, _ = fieldValue(v, seg.name)
	default:
		return reflect.Value{}
	}
	if !seg.keyed || !v.IsValid() {
		return v
	}
	v = set(v)
	if !v.IsValid() {
		return v
	}
	if v.Kind() == reflect.Map {
		return v.MapIndex(reflect.ValueOf(seg.key).Convert(v.Type().Key()))
	}
	return element(v, seg.key)
}

// element finds a list's element by what names it, or by its index.
func element(list reflect.Value, key string) reflect.Value {
	for i := range list.Len() {
		item := set(list.Index(i))
		if !item.IsValid() || item.Kind() != reflect.Struct {
			continue
		}
		for _, by := range []string{"name", "type", "key", "ip", "containerPort", "port", "mountPath"} {
			if f, ok := fieldValue(item, by); ok && fmt.Sprint(f) == key {
				return item
			}
		}
	}
	if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < list.Len() {
		return list.Index(i)
	}
	return reflect.Value{}
}

// set dereferences a pointer; an unset value gives an invalid one.
func set(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		if v.IsNil() {
			return reflect.Value{}
		}
		v = v.Elem()
	}
	return v
}

// empty reports whether a field is unset: absent, or the zero of a type whose
// zero the API leaves out.
func (v value) empty() bool {
	if !v.IsValid() {
		return true
	}
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return leaf(v.Type()) && v.IsZero()
	default:
		return false
	}
}

// plain is the value as JSON would have it, or nil where it is unset.
func (v value) plain() any {
	if !v.IsValid() {
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	}
	if b, ok := v.Interface().([]byte); ok {
		return string(b) // a Secret's data, as people write it
	}
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}

// text is a plain value in one line.
func text(v any) string {
	switch x := v.(type) {
	case nil:
		return unset
	case string:
		return x
	case bool, int, int32, int64, uint64:
		return fmt.Sprint(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
