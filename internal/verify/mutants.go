package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// mutant is a manifest with one change.
type mutant struct {
	// name says what was changed, without characters that mean something in a glob.
	name string
	text string
}

// mutants derives from a manifest the slips that people make: a field left
// out, a value changed, a field at another depth, init containers swapped, a
// mount left out or of a volume of its own, a container that ends.
func mutants(manifest string) ([]mutant, error) {
	objects, err := decode(manifest)
	if err != nil {
		return nil, err
	}
	var out []mutant
	for i, o := range objects {
		for _, change := range changes(o) {
			changed := runtime.DeepCopyJSON(o)
			change.apply(changed)
			all := slices.Clone(objects)
			all[i] = changed
			text, err := encode(all)
			if err != nil {
				return nil, err
			}
			out = append(out, mutant{fmt.Sprintf("%v %v: %s", o["kind"], nameOf(o["metadata"]), change.name), text})
		}
	}
	return out, nil
}

func decode(manifest string) ([]map[string]any, error) {
	var objects []map[string]any
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var document runtime.RawExtension
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		if len(document.Raw) == 0 || string(document.Raw) == "null" {
			continue
		}
		var o map[string]any
		if err := utiljson.Unmarshal(document.Raw, &o); err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		objects = append(objects, o)
	}
}

func encode(objects []map[string]any) (string, error) {
	var b strings.Builder
	for _, o := range objects {
		raw, err := json.Marshal(o)
		if err != nil {
			return "", fmt.Errorf("write a mutant: %w", err)
		}
		b.WriteString("---\n")
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// change is one change of an object; apply works on a copy.
type change struct {
	name  string
	apply func(o map[string]any)
}

// route leads into an object: each step is a key of a map (string) or an index of
// a list (int).
type route []any

func changes(o map[string]any) []change {
	var out []change
	for _, top := range []route{{"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}, {"data"}} {
		walk(lookup(o, top), top, func(at route, v any) {
			out = append(out, fieldChanges(o, at, v)...)
		})
	}
	return append(out, podChanges(o)...)
}

// fieldChanges drops what stands at a route, and changes it where it is a scalar.
func fieldChanges(o map[string]any, at route, v any) []change {
	key, ok := at[len(at)-1].(string)
	if !ok {
		return nil // a list's elements are changed by their fields
	}
	path := describe(o, at)
	out := []change{{"drop " + path, func(o map[string]any) {
		delete(lookup(o, at[:len(at)-1]).(map[string]any), key)
	}}}
	set := func(value any) {
		out = append(out, change{"change " + path, func(o map[string]any) {
			lookup(o, at[:len(at)-1]).(map[string]any)[key] = value
		}})
	}
	switch v := v.(type) {
	case int64:
		set(v + 1)
	case bool:
		set(!v)
	case string:
		switch {
		case key == "image" && strings.HasPrefix(v, "nginx"):
			set("busybox:1.36")
		case key == "image":
			set("nginx:1.27")
		default:
			set(v + "x")
		}
	}
	return out
}

// walk visits every key below v, in order; it does not enter lists of scalars.
func walk(v any, at route, visit func(route, any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := append(slices.Clone(at), key)
			visit(below, v[key])
			walk(v[key], below, visit)
		}
	case []any:
		for i := range v {
			walk(v[i], append(slices.Clone(at), i), visit)
		}
	}
}

func lookup(o map[string]any, at route) any {
	var v any = o
	for _, step := range at {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil
			}
			v = m[step]
		case int:
			l, ok := v.([]any)
			if !ok || step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// describe writes a route with names for indices: "spec.containers.web.image".
func describe(o map[string]any, at route) string {
	parts := make([]string, len(at))
	for i, step := range at {
		parts[i] = fmt.Sprint(step)
		if _, ok := step.(int); ok {
			if name := nameOf(lookup(o, at[:i+1])); name != "" {
				parts[i] = name
			}
		}
	}
	return strings.Join(parts, ".")
}

func nameOf(v any) string {
	m, _ := v.(map[string]any)
	for _, key := range []string{"name", "mountPath", "containerPort", "port", "key"} {
		if x, ok := m[key]; ok {
			return strings.ReplaceAll(fmt.Sprint(x), "/", "~")
		}
	}
	return ""
}

// podRoute is where the kind keeps its Pod's spec.
func podRoute(o map[string]any) route {
	switch o["kind"] {
	case "Pod":
		return route{"spec"}
	case "CronJob":
		return route{"spec", "jobTemplate", "spec", "template", "spec"}
	case "Job", "Deployment":
		return route{"spec", "template", "spec"}
	}
	return nil
}

// podChanges are those that need an understanding of Pods.
func podChanges(o map[string]any) []change {
	at := podRoute(o)
	spec, ok := lookup(o, at).(map[string]any)
	if at == nil || !ok {
		return nil
	}
	var out []change
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := spec[list].([]any)
		for i := range containers {
			here := append(slices.Clone(at), list, i)
			out = append(out, containerChanges(o, at, here)...)
			if i > 0 && list == "initContainers" {
				out = append(out, change{fmt.Sprintf("swap %s and %s", nameOf(containers[i-1]), nameOf(containers[i])), func(o map[string]any) {
					l := lookup(o, here[:len(here)-1]).([]any)
					l[i-1], l[i] = l[i], l[i-1]
				}})
			}
		}
	}
	return append(out, moves(o, at)...)
}

func containerChanges(o map[string]any, pod, here route) []change {
	name := nameOf(lookup(o, here))
	container := func(o map[string]any) map[string]any { return lookup(o, here).(map[string]any) }
	var out []change
	for _, code := range []int{0, 1} {
		out = append(out, change{fmt.Sprintf("%s ends with %d", name, code), func(o map[string]any) {
			c := container(o)
			delete(c, "args")
			c["command"] = []any{"sh", "-c", fmt.Sprintf("exit %d", code)}
		}})
	}
	mounts, _ := container(o)["volumeMounts"].([]any)
	for i := range mounts {
		what := nameOf(mounts[i])
		out = append(out,
			change{fmt.Sprintf("%s does not mount %s", name, what), func(o map[string]any) {
				c := container(o)
				c["volumeMounts"] = slices.Delete(c["volumeMounts"].([]any), i, i+1)
			}},
			change{fmt.Sprintf("%s mounts a volume of its own for %s", name, what), func(o map[string]any) {
				lookup(o, append(slices.Clone(here), "volumeMounts", i)).(map[string]any)["name"] = "mutant"
				spec := lookup(o, pod).(map[string]any)
				volumes, _ := spec["volumes"].([]any)
				spec["volumes"] = append(volumes, map[string]any{"name": "mutant", "emptyDir": map[string]any{}})
			}})
	}
	return out
}

// moves puts a field of one level of a Job or CronJob on another that has a
// field of the same name.
func moves(o map[string]any, pod route) []change {
	levels := []route{pod}
	switch o["kind"] {
	case "CronJob":
		levels = []route{{"spec"}, {"spec", "jobTemplate", "spec"}, pod}
	case "Job", "Deployment":
		levels = []route{{"spec"}, pod}
	}
	var out []change
	for _, key := range []string{"activeDeadlineSeconds", "suspend", "terminationGracePeriodSeconds", "restartPolicy", "ttlSecondsAfterFinished", "backoffLimit"} {
		for _, from := range levels {
			value := lookup(o, append(slices.Clone(from), key))
			if value == nil {
				continue
			}
			for _, to := range levels {
				if slices.Equal(from, to) {
					continue
				}
				out = append(out, change{fmt.Sprintf("move %s from %s to %s", key, describe(o, from), describe(o, to)), func(o map[string]any) {
					target, ok := lookup(o, to).(map[string]any)
					if !ok {
						return
					}
					delete(lookup(o, from).(map[string]any), key)
					target[key] = value
				}})
			}
		}
	}
	return out
}
