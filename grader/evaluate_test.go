package grader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// taken is when every snapshot of these tests was taken; objects are created
// two minutes before unless they say otherwise.
func taken() time.Time { return time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC) }

const nonce = "5eedf00d"

func instance(t testing.TB, checks string) *labs.Instance {
	t.Helper()
	inst := &labs.Instance{
		Task:      &labs.Task{Ref: labs.Ref{Lab: "ckad-multi", Task: "test"}},
		Namespace: "ckad-multi",
	}
	if err := yaml.UnmarshalStrict([]byte(checks), &inst.Checks); err != nil {
		t.Fatalf("checks: %v", err)
	}
	for i := range inst.Checks {
		if inst.Checks[i].Points == 0 {
			inst.Checks[i].Points = 1
		}
	}
	return inst
}

// snapshot reads objects as kubectl prints them.
func snapshot(t testing.TB, objects string) *grader.Snapshot {
	t.Helper()
	s := &grader.Snapshot{Namespace: "ckad-multi", Taken: taken()}
	for i, doc := range strings.Split("\n"+objects, "\n---") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		if err := add(s, doc); err != nil {
			t.Fatalf("object %d: %v\n%s", i+1, err, doc)
		}
	}
	return s
}

func add(s *grader.Snapshot, doc string) error {
	var head struct{ Kind string }
	if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
		return err
	}
	read := func(into metav1.Object) error {
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			return err
		}
		if created := into.GetCreationTimestamp(); created.IsZero() {
			into.SetCreationTimestamp(metav1.NewTime(taken().Add(-2 * time.Minute)))
		}
		if into.GetUID() == "" {
			into.SetUID(types.UID("uid-of-" + into.GetName()))
		}
		into.SetNamespace("ckad-multi")
		return nil
	}
	switch head.Kind {
	case "Pod":
		s.Pods = append(s.Pods, corev1.Pod{})
		return read(&s.Pods[len(s.Pods)-1])
	case "Deployment":
		s.Deployments = append(s.Deployments, appsv1.Deployment{})
		return read(&s.Deployments[len(s.Deployments)-1])
	case "ReplicaSet":
		s.ReplicaSets = append(s.ReplicaSets, appsv1.ReplicaSet{})
		return read(&s.ReplicaSets[len(s.ReplicaSets)-1])
	case "Job":
		s.Jobs = append(s.Jobs, batchv1.Job{})
		return read(&s.Jobs[len(s.Jobs)-1])
	case "CronJob":
		s.CronJobs = append(s.CronJobs, batchv1.CronJob{})
		return read(&s.CronJobs[len(s.CronJobs)-1])
	case "Service":
		s.Services = append(s.Services, corev1.Service{})
		return read(&s.Services[len(s.Services)-1])
	case "EndpointSlice":
		s.EndpointSlices = append(s.EndpointSlices, discoveryv1.EndpointSlice{})
		return read(&s.EndpointSlices[len(s.EndpointSlices)-1])
	case "ConfigMap":
		s.ConfigMaps = append(s.ConfigMaps, corev1.ConfigMap{})
		return read(&s.ConfigMaps[len(s.ConfigMaps)-1])
	case "Secret":
		s.Secrets = append(s.Secrets, corev1.Secret{})
		return read(&s.Secrets[len(s.Secrets)-1])
	case "Event":
		s.Events = append(s.Events, corev1.Event{})
		return read(&s.Events[len(s.Events)-1])
	case "History":
		var h struct {
			Kind    string
			Changes []grader.Change
		}
		err := yaml.UnmarshalStrict([]byte(doc), &h)
		s.History = append(s.History, h.Changes...)
		return err
	default:
		return fmt.Errorf("unknown kind %q", head.Kind)
	}
}

// Each archive holds checks and cases: files named CASE.yaml with objects, and
// CASE.want with a line per check: its verdict, its reason and, after "because",
// the explanation. A file CASE.probes holds what probes answered.
func TestVerdictsAndReasons(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			program, err := grader.Compile(instance(t, files["checks"]))
			if err != nil {
				t.Fatal(err)
			}
			cases := 0
			for _, f := range archive.Files {
				label, isWant := strings.CutSuffix(f.Name, ".want")
				if !isWant {
					continue
				}
				cases++
				t.Run(label, func(t *testing.T) {
					objects, ok := files[label+".yaml"]
					if !ok {
						t.Fatalf("no %s.yaml", label)
					}
					evidence := &grader.Evidence{Snapshot: snapshot(t, objects), Nonce: nonce}
					if probes := files[label+".probes"]; probes != "" {
						if err := json.Unmarshal([]byte(probes), &evidence.Probes); err != nil {
							t.Fatal(err)
						}
					}
					report := program.Evaluate(context.Background(), grader.Replay(evidence), grader.Options{Mode: grader.Submit})
					if diff := cmp.Diff(strings.TrimSpace(string(f.Data)), told(report)); diff != "" {
						t.Errorf("report (-want +got):\n%s\n%s", diff, details(report))
					}
				})
			}
			if cases == 0 {
				t.Error("the archive holds no case")
			}
		})
	}
}

func told(r *grader.Report) string {
	var lines []string
	for _, x := range r.Results {
		line := fmt.Sprintf("%s %s %s", x.Check, x.Verdict, x.Reason.ID)
		if x.Because != nil {
			line += " because " + x.Because.ID
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func details(r *grader.Report) string {
	var lines []string
	for _, x := range r.Results {
		lines = append(lines, fmt.Sprintf("%s: %v expected %q observed %q at %s %s (%s)\n%s",
			x.Check, x.Reason, x.Expected, x.Observed, x.Object, x.Path, x.Rank, x.Excerpt))
	}
	return strings.Join(lines, "\n")
}
