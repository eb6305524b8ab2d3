package grader

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podproof/podproof/grader/equal"
	"github.com/podproof/podproof/labs"
)

// field compares one field of the subject by meaning.
func (c *compiler) field(m *labs.Field) {
	if c.ref.name == "" {
		c.problem("fields needs a subject")
		return
	}
	segs, err := parsePath(m.Path)
	if err != nil {
		c.problem("fields: %w", err)
		return
	}
	kind, err := fieldType(c.ref.kind, segs)
	if err != nil {
		c.problem("fields: path %q: %w", m.Path, err)
		return
	}
	given := 0
	for _, has := range []bool{m.Equals != nil, len(m.OneOf) > 0, m.Contains != nil, m.Exists != nil} {
		if has {
			given++
		}
	}
	if given != 1 {
		c.problem("fields: path %q: give exactly one of equals, oneOf, contains and exists", m.Path)
		return
	}
	wanted := m.OneOf
	if m.Equals != nil {
		wanted = []any{m.Equals}
	}
	for _, w := range wanted {
		if _, err := equal.Value(m.Path, w, w, m.As); err != nil {
			c.problem("fields: %w", err)
		}
	}
	rank := Declared
	if segs[0].name == "status" {
		rank = Reported
	}
	c.look(rank, 0, func(s *scene) finding {
		v, f := s.obj.resolve(segs)
		if f != nil {
			return *f
		}
		if want, ok := m.Equals.(string); ok && s.obj.template != nil && v.path == s.obj.in("spec.restartPolicy") {
			return restartPolicy(s, s.obj.in("spec"), corev1.RestartPolicy(want), &s.obj.template.Spec)
		}
		if kind == reflect.TypeFor[intstr.IntOrString]() {
			v = s.obj.numbered(segs, v)
		}
		switch {
		case m.Exists != nil:
			return exists(s, segs, v, *m.Exists)
		case m.Contains != nil:
			return holds(s, v, m.Contains)
		default:
			return equals(s, m, segs, v, wanted)
		}
	})
}

// numbered replaces the name of a port by the number that the container of
// this path gives it.
func (o *object) numbered(segs []segment, v value) value {
	name, ok := v.plain().(string)
	if !ok || o.template == nil {
		return v
	}
	for _, seg := range segs {
		if !seg.keyed {
			continue
		}
		k, ok := containerNamed(&o.template.Spec, seg.key)
		if !ok {
			continue
		}
		for _, p := range k.Ports {
			if p.Name == name {
				v.Value = reflect.ValueOf(p.ContainerPort)
				return v
			}
		}
	}
	return v
}

func exists(s *scene, segs []segment, v value, want bool) finding {
	switch {
	case want == !v.empty():
		return pass(Msg("field.equal", "path", v.path, "observed", text(v.plain()))).at(v.path)
	case want:
		f := fail(Msg("field.unset", "path", v.path)).at(v.path).compared("≠ "+unset, unset)
		return misplaced(s.obj, segs, nil, f)
	default:
		got := text(v.plain())
		return fail(Msg("field.set", "path", v.path, "observed", got)).at(v.path).compared(unset, got)
	}
}

// holds: a list has an element, or a text a part.
func holds(s *scene, v value, part any) finding {
	want, have := s.fill(text(part)), v.plain()
	found := false
	switch x := have.(type) {
	case []any:
		for _, item := range x {
			found = found || text(item) == want || matches(item, part)
		}
	case map[string]any:
		found = matches(have, part)
	case string:
		found = strings.Contains(x, want)
	}
	if !found {
		return fail(Msg("field.lacks", "path", v.path, "expected", want, "observed", text(have))).
			at(v.path).compared(want, text(have))
	}
	return pass(Msg("field.equal", "path", v.path, "observed", text(have))).at(v.path)
}

// matches reports whether have has every key of want, with equal values.
func matches(have, want any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return text(have) == text(want)
	}
	h, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range w {
		if !matches(h[k], v) {
			return false
		}
	}
	return true
}

func equals(s *scene, m *labs.Field, segs []segment, v value, wanted []any) finding {
	have := v.plain()
	got, shown := text(have), text(have)
	var wants []string
	for _, w := range wanted {
		if t, ok := w.(string); ok {
			w = s.fill(t)
		}
		// The zero that the API leaves out is the zero that was asked for.
		if zero := text(w); v.empty() && (zero == "" || zero == "false") {
			return pass(Msg("field.equal", "path", v.path, "observed", zero)).at(v.path).compared(zero, zero)
		}
		d, err := equal.Value(m.Path, w, have, m.As)
		if err != nil { // an invalid wanted value, which compiling lets through only with a nonce
			d = equal.Compared{Want: text(w), Got: got}
		}
		if d.Equal && !v.empty() {
			return pass(Msg("field.equal", "path", v.path, "observed", got)).at(v.path).compared(d.Want, d.Got)
		}
		wants = append(wants, d.Want)
		shown = d.Got
	}
	expected := strings.Join(wants, " | ")
	if v.empty() {
		f := fail(Msg("field.missing", "path", v.path, "expected", expected)).at(v.path).compared(expected, unset)
		return misplaced(s.obj, segs, wanted, f)
	}
	f := fail(Msg("field.differs", "path", v.path, "expected", expected, "observed", shown)).
		at(v.path).compared(expected, shown)
	return misplaced(s.obj, segs, wanted, f)
}

// imageOf judges a container's image; an empty want asks for none.
func imageOf(s *scene, k container, want string) finding {
	path := s.obj.in(k.path()) + ".image"
	if want == "" {
		return pass(Msg("field.equal", "path", path, "observed", k.Image))
	}
	d, err := equal.Image(want, k.Image)
	if err != nil {
		return fail(Msg("image.differs", "container", k.Name, "expected", want, "observed", k.Image)).at(path)
	}
	if !d.Equal {
		return fail(Msg("image.differs", "container", k.Name, "expected", d.Want, "observed", d.Got)).
			at(path).compared(d.Want, d.Got)
	}
	return pass(Msg("field.equal", "path", path, "observed", k.Image)).at(path).compared(d.Want, d.Got)
}

// checkImage reports an image in a check that is no image reference.
func (c *compiler) checkImage(matcher, image string) {
	if image == "" {
		return
	}
	if _, err := equal.Image(image, image); err != nil {
		c.problem("%s.image: %w", matcher, fmt.Errorf("%q: %w", image, err))
	}
}
