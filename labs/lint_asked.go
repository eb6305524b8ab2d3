package labs

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// asked is an exact name or number that a check holds the learner to.
type asked struct {
	value string
	where []any // below the check in task.yaml
}

// asked lists the names and numbers that a prompt must give, because no other
// would do: objects, containers, images, paths, ports, counts, variables. What
// a prompt may say in its own words is left out: policies, schedules, output,
// conditions.
func (c Check) asked() []asked {
	var out []asked
	add := func(value string, where ...any) {
		if value != "" {
			out = append(out, asked{value, where})
		}
	}
	for _, m := range fieldsOf(reflect.ValueOf(c.Subject)) {
		add(reflect.ValueOf(c.Subject).FieldByIndex(m.index).String(), m.name)
	}
	keys := func(m map[string]string, values bool, where ...any) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			at := append(slices.Clone(where), key)
			add(key, at...)
			if values {
				add(m[key], at...)
			}
		}
	}
	if m := c.Labels; m != nil {
		keys(m.Labels, true, "labels", "labels")
		keys(m.Annotations, true, "labels", "annotations")
	}
	for i, f := range c.Fields {
		if _, rest, ok := strings.Cut(f.Path, "container["); ok {
			name, _, _ := strings.Cut(rest, "]")
			add(name, "fields", i, "path")
		}
		switch v := f.Equals.(type) {
		case int64, float64:
			add(fmt.Sprint(v), "fields", i, "equals")
		case string:
			if strings.HasSuffix(f.Path, "image") || strings.HasSuffix(f.Path, "ath") {
				add(v, "fields", i, "equals")
			}
		}
	}
	if m := c.Process; m != nil {
		add(m.Container, "process", "container")
	}
	if m := c.Resources; m != nil {
		add(m.Container, "resources", "container")
	}
	if m := c.InitOrder; m != nil {
		for i, name := range m.Containers {
			add(name, "initOrder", "containers", i)
		}
	}
	if m := c.NativeSidecar; m != nil {
		add(m.Container, "nativeSidecar", "container")
		add(m.Image, "nativeSidecar", "image")
	}
	if m := c.Sidecar; m != nil {
		add(m.Container, "sidecar", "container")
		add(m.Image, "sidecar", "image")
	}
	if m := c.SharedVolume; m != nil {
		keys(m.Mounts, true, "sharedVolume", "mounts")
	}
	out = append(out, c.JobSpec.asked("jobSpec")...)
	if m := c.CronJobSpec; m != nil {
		for key, n := range map[string]any{
			"startingDeadlineSeconds": m.StartingDeadlineSeconds, "successfulJobsHistoryLimit": m.SuccessfulJobsHistoryLimit,
			"failedJobsHistoryLimit": m.FailedJobsHistoryLimit,
		} {
			add(number(n), "cronJobSpec", key)
		}
		add(m.ManualJob, "cronJobSpec", "manualJob")
		out = append(out, m.Job.asked("cronJobSpec", "job")...)
	}
	if m := c.Ephemeral; m != nil {
		add(m.Target, "ephemeral", "target")
		add(m.Image, "ephemeral", "image")
	}
	if m := c.Env; m != nil {
		add(m.Container, "env", "container")
		keys(m.Vars, false, "env", "vars")
	}
	if m := c.Exec; m != nil {
		add(m.Container, "exec", "container")
	}
	if m := c.HTTP; m != nil {
		add(m.Container, "http", "container")
	}
	if m := c.Logs; m != nil {
		add(m.Container, "logs", "container")
	}
	if m := c.Ambassador; m != nil {
		add(m.App, "ambassador", "app")
		add(m.Container, "ambassador", "container")
		add(fmt.Sprint(m.Port), "ambassador", "port")
		name, _, _ := strings.Cut(m.Backend, ":")
		add(name, "ambassador", "backend")
	}
	if m := c.Adapter; m != nil {
		add(m.App, "adapter", "app")
		add(m.Container, "adapter", "container")
		add(fmt.Sprint(m.Port), "adapter", "port")
		add(m.Path, "adapter", "path")
		add(m.Metric, "adapter", "metric")
	}
	if m := c.Termination; m != nil {
		add(number(m.Grace), "termination", "grace")
		for i, name := range m.Order {
			add(name, "termination", "order", i)
		}
	}
	if c.Default {
		return slices.DeleteFunc(out, func(a asked) bool { return !strings.ContainsAny(a.value[:1], "abcdefghijklmnopqrstuvwxyz/") })
	}
	return out
}

func (j *JobSpec) asked(where ...any) []asked {
	if j == nil {
		return nil
	}
	var out []asked
	for key, n := range map[string]any{
		"completions": j.Completions, "parallelism": j.Parallelism, "backoffLimit": j.BackoffLimit,
		"activeDeadlineSeconds": j.ActiveDeadlineSeconds, "ttlSecondsAfterFinished": j.TTLSecondsAfterFinished,
	} {
		if v := number(n); v != "" {
			out = append(out, asked{v, append(slices.Clone(where), key)})
		}
	}
	return out
}

// number writes a *int32 or *int64, "" for nil.
func number(p any) string {
	v := reflect.ValueOf(p)
	if v.IsNil() {
		return ""
	}
	return fmt.Sprint(v.Elem().Int())
}

// checksText is all that the checks hold, but for their titles.
func (l *linter) checksText() string {
	var out strings.Builder
	for _, c := range l.inst.Checks {
		c.Title = Text{}
		data, err := json.Marshal(c)
		if err != nil {
			continue // a check that came from YAML has nothing that JSON lacks
		}
		var back any
		if json.Unmarshal(data, &back) == nil {
			writeScalars(&out, back)
		}
	}
	return out.String()
}

// writeScalars writes every key and scalar of a JSON value, each on its line.
func writeScalars(out *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			fmt.Fprintln(out, key)
			writeScalars(out, x)
		}
	case []any:
		for _, x := range v {
			writeScalars(out, x)
		}
	default:
		fmt.Fprintln(out, v)
	}
}
