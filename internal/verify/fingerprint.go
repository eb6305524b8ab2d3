package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podproof/podproof/grader"
)

// mark is what of one object must not change unasked.
type mark struct {
	uid string
	// content is the object as its author wrote it: labels, annotations, spec
	// or data, without what the cluster fills in.
	content string
	// fleeting objects may go away by themselves: a Job with a TTL.
	fleeting bool
}

// prints are the objects of a namespace that no controller owns, by kind and name.
type prints map[string]mark

// fingerprint looks at everything that a learner makes in these labs.
func (r *runner) fingerprint(ctx context.Context, namespace string) (prints, error) {
	s, err := r.admin.Snapshot(ctx, namespace, []grader.Kind{
		grader.KindPod, grader.KindDeployment, grader.KindJob, grader.KindCronJob,
		grader.KindService, grader.KindConfigMap, grader.KindSecret,
	})
	if err != nil {
		return nil, err
	}
	p := prints{}
	for i := range s.Pods {
		o := &s.Pods[i]
		p.add("Pod", &o.ObjectMeta, podSpec(&o.Spec), false)
	}
	for i := range s.Deployments {
		o := &s.Deployments[i]
		p.add("Deployment", &o.ObjectMeta, o.Spec, false)
	}
	for i := range s.Jobs {
		o := &s.Jobs[i]
		spec := o.Spec.DeepCopy()
		spec.Selector, spec.Template.Labels = nil, nil // they hold the Job's own UID
		p.add("Job", &o.ObjectMeta, spec, spec.TTLSecondsAfterFinished != nil)
	}
	for i := range s.CronJobs {
		o := &s.CronJobs[i]
		p.add("CronJob", &o.ObjectMeta, o.Spec, false)
	}
	for i := range s.Services {
		o := &s.Services[i]
		spec := o.Spec.DeepCopy()
		spec.ClusterIP, spec.ClusterIPs = "", nil
		for j := range spec.Ports {
			spec.Ports[j].NodePort = 0
		}
		p.add("Service", &o.ObjectMeta, spec, false)
	}
	for i := range s.ConfigMaps {
		o := &s.ConfigMaps[i]
		p.add("ConfigMap", &o.ObjectMeta, []any{o.Data, o.BinaryData}, false)
	}
	for i := range s.Secrets {
		o := &s.Secrets[i]
		p.add("Secret", &o.ObjectMeta, o.Data, false)
	}
	return p, nil
}

func podSpec(spec *corev1.PodSpec) *corev1.PodSpec {
	c := spec.DeepCopy()
	c.NodeName = ""
	// The token's volume has a random name.
	injected := func(name string) bool { return strings.HasPrefix(name, "kube-api-access-") }
	c.Volumes = slices.DeleteFunc(c.Volumes, func(v corev1.Volume) bool { return injected(v.Name) })
	for _, list := range [][]corev1.Container{c.InitContainers, c.Containers} {
		for i := range list {
			list[i].VolumeMounts = slices.DeleteFunc(list[i].VolumeMounts, func(m corev1.VolumeMount) bool { return injected(m.Name) })
		}
	}
	return c
}

func (p prints) add(kind string, o *metav1.ObjectMeta, content any, fleeting bool) {
	if metav1.GetControllerOf(o) != nil {
		return
	}
	labels, annotations := maps.Clone(o.Labels), maps.Clone(o.Annotations)
	if kind == "Job" {
		labels = nil // like the template's
	}
	if delete(annotations, "deployment.kubernetes.io/revision"); len(annotations) == 0 {
		annotations = nil // none, whether the controller has been here or not
	}
	raw, err := json.Marshal([]any{labels, annotations, content})
	if err != nil {
		// API types always encode; say so where it shows if one does not.
		raw = []byte(err.Error())
	}
	p[kind+"/"+o.Name] = mark{uid: string(o.UID), content: string(raw), fleeting: fleeting}
}

// difference says what differs, "" where nothing does. With identity, an
// object that was made anew counts as changed.
func difference(before, after prints, identity bool) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was := before[name]
		is, ok := after[name]
		switch {
		case !ok && was.fleeting:
		case !ok:
			parts = append(parts, name+" is gone")
		case identity && is.uid != was.uid:
			parts = append(parts, name+" was made anew")
		case is.content != was.content:
			parts = append(parts, fmt.Sprintf("%s changed from %s to %s", name, was.content, is.content))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok {
			parts = append(parts, name+" appeared")
		}
	}
	return strings.Join(parts, "; ")
}
