package labs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ObjectRef names an object in the instance's namespace.
type ObjectRef struct {
	APIVersion string
	Kind       string
	Name       string
}

func (r ObjectRef) String() string { return r.Kind + "/" + r.Name }

// Ref names the check's subject; the answer is false where it has none.
func (s Subject) Ref() (ObjectRef, bool) {
	for _, x := range []ObjectRef{
		{"v1", "Pod", s.Pod}, {"apps/v1", "Deployment", s.Deployment}, {"batch/v1", "Job", s.Job},
		{"batch/v1", "CronJob", s.CronJob}, {"v1", "Service", s.Service},
		{"v1", "ConfigMap", s.ConfigMap}, {"v1", "Secret", s.Secret},
	} {
		if x.Name != "" {
			return x, true
		}
	}
	return ObjectRef{}, false
}

// Objects lists what the task is about: every object that its checks, its
// setup and its reference manifest name, sorted by kind and name, each once.
// Deleting these (and what they own) and applying the setup resets the task.
func (i *Instance) Objects() []ObjectRef {
	var out []ObjectRef
	for _, c := range i.Checks {
		out = append(out, c.objects()...)
	}
	out = append(out, manifestObjects(i.Setup)...)
	if !i.Answer.Shell() {
		out = append(out, manifestObjects(i.Answer.Text)...)
	}
	slices.SortFunc(out, func(a, b ObjectRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return slices.CompactFunc(out, func(a, b ObjectRef) bool { return a.Kind == b.Kind && a.Name == b.Name })
}

// celObject finds the objects that an expression names: pod('web').
var celObject = regexp.MustCompile(`\b(pod|deployment|job|cronJob|service|configMap|secret)\(\s*['"]([^'"]+)['"]\s*\)`)

// objects lists what a check names.
func (c Check) objects() []ObjectRef {
	var out []ObjectRef
	add := func(s Subject) {
		if ref, ok := s.Ref(); ok {
			out = append(out, ref)
		}
	}
	add(c.Subject)
	if c.CronJobSpec != nil {
		add(Subject{Job: c.CronJobSpec.ManualJob})
	}
	if c.Ambassador != nil {
		name, _, _ := strings.Cut(c.Ambassador.Backend, ":")
		add(Subject{Service: name})
	}
	if c.Env != nil {
		for _, from := range c.Env.From {
			switch kind, name, _ := strings.Cut(from, "/"); kind {
			case "configMap":
				add(Subject{ConfigMap: name})
			case "secret":
				add(Subject{Secret: name})
			}
		}
	}
	for _, m := range celObject.FindAllStringSubmatch(c.CEL, -1) {
		s := map[string]Subject{
			"pod": {Pod: m[2]}, "deployment": {Deployment: m[2]}, "job": {Job: m[2]}, "cronJob": {CronJob: m[2]},
			"service": {Service: m[2]}, "configMap": {ConfigMap: m[2]}, "secret": {Secret: m[2]},
		}
		add(s[m[1]])
	}
	return out
}

// manifestObjects lists the objects of a manifest, those of a List too.
func manifestObjects(text string) []ObjectRef {
	docs, _ := parseYAML("", text)
	var out []ObjectRef
	for _, doc := range docs {
		for _, n := range listed(doc) {
			ref := ObjectRef{textAt(n, "apiVersion"), textAt(n, "kind"), textAt(n, "metadata", "name")}
			if ref.Kind != "" && ref.Name != "" {
				out = append(out, ref)
			}
		}
	}
	return out
}

// listed returns the items of a List, or the object itself.
func listed(n *yaml.Node) []*yaml.Node {
	if items := find(n, "items"); items != nil && textAt(n, "kind") == "List" {
		return items.Content
	}
	return []*yaml.Node{n}
}

// textAt is the scalar at a path, "" where there is none.
func textAt(n *yaml.Node, path ...any) string {
	if x := find(n, path...); x != nil && x.Kind == yaml.ScalarNode {
		return x.Value
	}
	return ""
}
