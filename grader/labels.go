package grader

import "github.com/podproof/podproof/labs"

// labels: the subject carries these labels and annotations, among others.
func (c *compiler) labels(m *labs.Labels) {
	if c.ref.name == "" {
		c.problem("labels needs a subject")
		return
	}
	if len(m.Labels)+len(m.Annotations) == 0 {
		c.problem("labels asks for no label and no annotation")
	}
	c.look(Declared, 0, func(s *scene) finding {
		meta := s.obj.meta
		if f := carries(s, m.Labels, meta.Labels, meta.Annotations, "labels", "annotations"); !f.ok() {
			return f
		}
		if f := carries(s, m.Annotations, meta.Annotations, meta.Labels, "annotations", "labels"); !f.ok() {
			return f
		}
		return pass(Msg("labels.carried", "object", s.obj.String()))
	})
}

// carries compares one map of metadata; other is the map that people mix it up with.
func carries(s *scene, want, have, other map[string]string, field, mixedUp string) finding {
	for _, key := range sortedKeys(want) {
		value := s.fill(want[key])
		got, ok := have[key]
		if ok && got == value {
			continue
		}
		path := "metadata." + field + "[" + key + "]"
		shown := key + "=" + value
		if ok {
			return fail(Msg("labels.differs", "key", key, "field", field, "expected", value, "observed", got)).
				at(path).compared(shown, key+"="+got).doc(docLabels)
		}
		if x, there := other[key]; there {
			return fail(Msg("labels.mixedUp", "key", key, "field", field, "found", mixedUp)).
				at(path).compared(shown, "metadata."+mixedUp+": "+key+"="+x).why(Msg("labels.mixedUp.why")).doc(docLabels)
		}
		if t := s.obj.template; t != nil && s.obj.templatePath != "" {
			there := t.Labels
			if field == "annotations" {
				there = t.Annotations
			}
			if x, ok := there[key]; ok {
				return fail(Msg("labels.onTemplate", "key", key, "field", field, "kind", string(s.obj.kind))).
					at(path).compared(shown, s.obj.in("metadata."+field)+": "+key+"="+x).
					why(Msg("labels.onTemplate.why")).doc(docLabels)
			}
		}
		return fail(Msg("labels.missing", "key", key, "field", field, "object", s.obj.String())).
			at(path).compared(shown, listed(sortedKeys(have))).doc(docLabels)
	}
	return pass(Msg("labels.carried", "object", s.obj.String()))
}
