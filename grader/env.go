package grader

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/grader/equal"
	"github.com/podproof/podproof/labs"
)

// env judges the environment that a container's process has.
func (c *compiler) env(m *labs.Env) {
	if !c.on("env", withPods()...) {
		return
	}
	if len(m.Vars) == 0 && len(m.From) == 0 {
		c.problem("env: give vars or from")
	}
	c.see(KindConfigMap, KindSecret)
	for _, name := range sortedKeys(m.From) {
		kind, _, ok := strings.Cut(m.From[name], "/")
		if !ok || !slices.Contains([]string{"configMap", "secret", "field"}, kind) {
			c.problem("env.from: %s: %q is not configMap/NAME, secret/NAME or field/PATH", name, m.From[name])
		}
	}
	if len(m.From) > 0 {
		c.look(Declared, 0, func(s *scene) finding { return envFrom(s, m) })
	}
	if len(m.Vars) > 0 {
		c.probe(m.Within, func(ctx context.Context, s *scene) (finding, error) { return envHas(ctx, s, m) })
	}
}

func envFrom(s *scene, m *labs.Env) finding {
	k, f := s.obj.pick(m.Container)
	if k.Container == nil {
		return f.doc(docEnv)
	}
	for _, name := range sortedKeys(m.From) {
		want := m.From[name]
		got := sources(k.Container, name)
		if !slices.Contains(got, want) {
			return fail(Msg("env.source", "container", k.Name, "variable", name, "expected", want, "observed", listed(got))).
				at(s.obj.in(k.path())+".env["+name+"]").compared(want, listed(got)).doc(docEnv)
		}
	}
	return pass(Msg("env.has", "container", k.Name))
}

// sources lists where a variable may come from, most direct first.
func sources(c *corev1.Container, name string) []string {
	for i := range c.Env {
		e := &c.Env[i]
		if e.Name != name {
			continue
		}
		switch v := e.ValueFrom; {
		case v == nil:
			return []string{"value"}
		case v.ConfigMapKeyRef != nil:
			return []string{"configMap/" + v.ConfigMapKeyRef.Name}
		case v.SecretKeyRef != nil:
			return []string{"secret/" + v.SecretKeyRef.Name}
		case v.FieldRef != nil:
			return []string{"field/" + v.FieldRef.FieldPath}
		default:
			return []string{"valueFrom"}
		}
	}
	var out []string
	for i := range c.EnvFrom {
		e := &c.EnvFrom[i]
		switch {
		case !strings.HasPrefix(name, e.Prefix):
		case e.ConfigMapRef != nil:
			out = append(out, "configMap/"+e.ConfigMapRef.Name)
		case e.SecretRef != nil:
			out = append(out, "secret/"+e.SecretRef.Name)
		}
	}
	return out
}

func envHas(ctx context.Context, s *scene, m *labs.Env) (finding, error) {
	pod, container, waits := s.inside(m.Container)
	if pod == nil {
		return *waits, nil
	}
	var have map[string]string
	switch {
	case waits == nil:
		// A command in the container starts with the environment that the
		// container's own process was given.
		out, err := s.cluster.Exec(ctx, podRef(pod), container, []string{"cat", "/proc/self/environ"})
		if err != nil {
			return finding{}, err
		}
		have = environ(out.Stdout)
	case startOf(status(pod, container)) != nil:
		// It has ended: what it was given is told by its spec.
		have = s.given(pod, container)
	default:
		return *waits, nil
	}
	wanted := map[string]string{}
	for name, v := range m.Vars {
		wanted[name] = s.fill(v)
	}
	d, err := equal.Env(wanted, have)
	if err != nil {
		return finding{}, err
	}
	if d.Equal {
		return pass(Msg("env.has", "container", container)).of("Pod/"+pod.Name).compared(d.Want, d.Got), nil
	}
	for _, name := range sortedKeys(wanted) {
		got, ok := have[name]
		if !ok {
			return fail(Msg("env.unset", "container", container, "variable", name)).of("Pod/"+pod.Name).
				compared(d.Want, d.Got).doc(docEnv).settle(), nil
		}
		if got != wanted[name] {
			return fail(Msg("env.differs", "container", container, "variable", name, "expected", wanted[name], "observed", got)).
				of("Pod/"+pod.Name).compared(d.Want, d.Got).doc(docEnv).settle(), nil
		}
	}
	return finding{}, nil
}

func environ(text string) map[string]string {
	out := map[string]string{}
	for _, pair := range strings.Split(text, "\x00") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			out[name] = value
		}
	}
	return out
}

// given resolves the environment that a container's spec gives it.
func (s *scene) given(pod *corev1.Pod, name string) map[string]string {
	out := map[string]string{}
	k, ok := containerNamed(&pod.Spec, name)
	if !ok {
		return out
	}
	for i := range k.EnvFrom {
		e := &k.EnvFrom[i]
		switch {
		case e.ConfigMapRef != nil:
			for key, v := range s.configMap(e.ConfigMapRef.Name) {
				out[e.Prefix+key] = v
			}
		case e.SecretRef != nil:
			for key, v := range s.secret(e.SecretRef.Name) {
				out[e.Prefix+key] = v
			}
		}
	}
	for i := range k.Env {
		e := &k.Env[i]
		switch v := e.ValueFrom; {
		case v == nil:
			out[e.Name] = expand(e.Value, out)
		case v.ConfigMapKeyRef != nil:
			out[e.Name] = s.configMap(v.ConfigMapKeyRef.Name)[v.ConfigMapKeyRef.Key]
		case v.SecretKeyRef != nil:
			out[e.Name] = s.secret(v.SecretKeyRef.Name)[v.SecretKeyRef.Key]
		case v.FieldRef != nil:
			out[e.Name] = downward(pod, v.FieldRef.FieldPath)
		}
	}
	return out
}

// expand fills in $(NAME) by the variables that stand before it.
func expand(value string, have map[string]string) string {
	for name, v := range have {
		value = strings.ReplaceAll(value, "$("+name+")", v)
	}
	return value
}

func downward(pod *corev1.Pod, path string) string {
	o := &object{value: pod}
	segs, err := parsePath(strings.NewReplacer("['", "[", "']", "]").Replace(path))
	if err != nil {
		return ""
	}
	v, f := o.resolve(segs)
	if f != nil || v.empty() {
		return ""
	}
	return text(v.plain())
}

func (s *Snapshot) configMap(name string) map[string]string {
	for i := range s.ConfigMaps {
		if s.ConfigMaps[i].Name == name {
			return s.ConfigMaps[i].Data
		}
	}
	return nil
}

func (s *Snapshot) secret(name string) map[string]string {
	out := map[string]string{}
	for i := range s.Secrets {
		if s.Secrets[i].Name == name {
			for k, v := range s.Secrets[i].Data {
				out[k] = string(v)
			}
		}
	}
	return out
}
