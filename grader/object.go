package grader

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podproof/podproof/labs"
)

// ref names the subject of a check; the zero value stands for none.
type ref struct {
	kind Kind
	name string
}

func (r ref) String() string { return string(r.kind) + "/" + r.name }

// refsOf lists the subjects that s names: one, in a sound check.
func refsOf(s labs.Subject) []ref {
	var out []ref
	for _, r := range []ref{
		{KindPod, s.Pod}, {KindDeployment, s.Deployment}, {KindJob, s.Job},
		{KindCronJob, s.CronJob}, {KindService, s.Service},
		{KindConfigMap, s.ConfigMap}, {KindSecret, s.Secret},
	} {
		if r.name != "" {
			out = append(out, r)
		}
	}
	return out
}

// kindsFor lists the kinds that a check on this kind must see: its own, those
// that stand between it and its Pods, and those that people make instead.
func kindsFor(k Kind) []Kind {
	switch k {
	case KindPod, KindDeployment, KindJob, KindCronJob:
		return []Kind{KindPod, KindDeployment, KindReplicaSet, KindJob, KindCronJob, KindEvent}
	case KindService:
		return []Kind{KindService, KindEndpointSlice, KindPod}
	case KindConfigMap, KindSecret:
		return []Kind{KindConfigMap, KindSecret}
	default:
		return nil
	}
}

// object is a subject that was found.
type object struct {
	ref
	meta *metav1.ObjectMeta
	// value points at the typed object.
	value any
	// template is the Pod template, or the Pod itself; nil for a kind without
	// Pods. templatePath is where it stands: "spec.template", "" for a Pod.
	template     *corev1.PodTemplateSpec
	templatePath string
}

// in returns a path within the Pod template, from the object's root.
func (o *object) in(path string) string {
	if o.templatePath == "" {
		return path
	}
	return o.templatePath + "." + path
}

// job returns the Job's spec that the object is or carries, and its path.
func (o *object) job() (*batchv1.JobSpec, string) {
	switch v := o.value.(type) {
	case *batchv1.Job:
		return &v.Spec, "spec"
	case *batchv1.CronJob:
		return &v.Spec.JobTemplate.Spec, "spec.jobTemplate.spec"
	default:
		return nil, ""
	}
}

// meta returns the metadata of the i-th object of a kind, or nil past the last.
func (s *Snapshot) meta(k Kind, i int) *metav1.ObjectMeta {
	switch {
	case k == KindPod && i < len(s.Pods):
		return &s.Pods[i].ObjectMeta
	case k == KindDeployment && i < len(s.Deployments):
		return &s.Deployments[i].ObjectMeta
	case k == KindJob && i < len(s.Jobs):
		return &s.Jobs[i].ObjectMeta
	case k == KindCronJob && i < len(s.CronJobs):
		return &s.CronJobs[i].ObjectMeta
	case k == KindService && i < len(s.Services):
		return &s.Services[i].ObjectMeta
	case k == KindConfigMap && i < len(s.ConfigMaps):
		return &s.ConfigMaps[i].ObjectMeta
	case k == KindSecret && i < len(s.Secrets):
		return &s.Secrets[i].ObjectMeta
	default:
		return nil
	}
}

// object returns the i-th object of a kind, which must exist.
func (s *Snapshot) object(k Kind, i int) *object {
	m := s.meta(k, i)
	o := &object{ref: ref{k, m.Name}, meta: m}
	switch k {
	case KindPod:
		p := &s.Pods[i]
		o.value, o.template = p, &corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
	case KindDeployment:
		d := &s.Deployments[i]
		o.value, o.template, o.templatePath = d, &d.Spec.Template, "spec.template"
	case KindJob:
		j := &s.Jobs[i]
		o.value, o.template, o.templatePath = j, &j.Spec.Template, "spec.template"
	case KindCronJob:
		c := &s.CronJobs[i]
		o.value, o.template, o.templatePath = c, &c.Spec.JobTemplate.Spec.Template, "spec.jobTemplate.spec.template"
	case KindService:
		o.value = &s.Services[i]
	case KindConfigMap:
		o.value = &s.ConfigMaps[i]
	case KindSecret:
		o.value = &s.Secrets[i]
	}
	return o
}

// find returns the object that r names, or nil.
func (s *Snapshot) find(r ref) *object {
	for i := 0; ; i++ {
		switch m := s.meta(r.kind, i); {
		case m == nil:
			return nil
		case m.Name == r.name:
			return s.object(r.kind, i)
		}
	}
}

// subject finds what a check is about. Where it is missing, the finding names
// the nearest miss: another kind, then a similar name.
func (s *Snapshot) subject(r ref) (*object, finding) {
	if o := s.find(r); o != nil {
		if o.meta.DeletionTimestamp != nil {
			// What is going away is no answer any more, and its successor may be on its way.
			return nil, pending(Msg("object.terminating", "kind", string(r.kind), "name", r.name)).
				of(r.String()).ranked(Reported).began(o.meta.DeletionTimestamp.Time)
		}
		return o, finding{}
	}
	f := fail(Msg("object.missing", "kind", string(r.kind), "name", r.name))
	f.missing = true
	if other := s.otherKind(r); other != "" {
		f = fail(Msg("object.wrongKind", "kind", string(r.kind), "name", r.name, "found", string(other))).
			compared(string(r.kind), string(other)).
			why(Msg("object.wrongKind.why", "kind", string(r.kind), "found", string(other)))
	} else if near := s.similar(r); near != "" {
		f = fail(Msg("object.similar", "kind", string(r.kind), "name", r.name, "found", near)).
			compared(r.name, near)
	}
	return nil, f.of(r.String()).ranked(Declared).settle()
}

// otherKind returns a kind that a person may have made instead of r's.
func (s *Snapshot) otherKind(r ref) Kind {
	for _, k := range []Kind{KindPod, KindDeployment, KindJob, KindCronJob, KindConfigMap, KindSecret} {
		if k != r.kind && slices.Contains(kindsFor(r.kind), k) && s.find(ref{k, r.name}) != nil {
			return k
		}
	}
	return ""
}

// similar returns the name of an object of r's kind that looks like a slip of
// r's name. Objects that a controller made are no one's slip.
func (s *Snapshot) similar(r ref) string {
	best, least := "", 2 // a short name allows one slip, a longer one two
	if len(r.name) > 5 {
		least = 3
	}
	for i := 0; ; i++ {
		m := s.meta(r.kind, i)
		if m == nil {
			return best
		}
		if metav1.GetControllerOfNoCopy(m) != nil {
			continue
		}
		d := distance(r.name, m.Name, least)
		if plain(m.Name) == plain(r.name) || (len(r.name) > 3 && strings.HasPrefix(m.Name, r.name)) {
			d = min(d, 1)
		}
		if d < least && d < len(r.name) {
			best, least = m.Name, d
		}
	}
}

func plain(s string) string {
	return strings.NewReplacer("-", "", ".", "", "_", "").Replace(strings.ToLower(s))
}

// distance is the Levenshtein distance of two names, or limit where it is larger.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit)
}

// pods returns the Pods of an object: itself, or those that it controls,
// directly or by a ReplicaSet or Job between; oldest first.
func (s *Snapshot) pods(o *object) []*corev1.Pod {
	var out []*corev1.Pod
	switch o.kind {
	case KindPod:
		return []*corev1.Pod{o.value.(*corev1.Pod)}
	case KindJob:
		out = s.ownedPods(o.meta.UID)
	case KindDeployment:
		for i := range s.ReplicaSets {
			if metav1.IsControlledBy(&s.ReplicaSets[i], o.value.(*appsv1.Deployment)) {
				out = append(out, s.ownedPods(s.ReplicaSets[i].UID)...)
			}
		}
	case KindCronJob:
		for _, j := range s.jobsOf(o) {
			out = append(out, s.ownedPods(j.UID)...)
		}
	case KindService:
		out = s.backends(o.value.(*corev1.Service))
	}
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return out
}

// jobsOf returns the Jobs that a CronJob owns. One made by hand has an owner
// reference that is not a controller's.
func (s *Snapshot) jobsOf(o *object) []*batchv1.Job {
	var out []*batchv1.Job
	for i := range s.Jobs {
		if owned(&s.Jobs[i].ObjectMeta, o.meta) {
			out = append(out, &s.Jobs[i])
		}
	}
	return out
}

func owned(child, owner *metav1.ObjectMeta) bool {
	return slices.ContainsFunc(child.OwnerReferences, func(r metav1.OwnerReference) bool {
		return r.UID == owner.UID
	})
}

func (s *Snapshot) ownedPods(owner types.UID) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range s.Pods {
		if c := metav1.GetControllerOfNoCopy(&s.Pods[i]); c != nil && c.UID == owner {
			out = append(out, &s.Pods[i])
		}
	}
	return out
}

// backends returns the Pods that a Service selects.
func (s *Snapshot) backends(svc *corev1.Service) []*corev1.Pod {
	var out []*corev1.Pod
	if len(svc.Spec.Selector) == 0 {
		return nil
	}
	for i := range s.Pods {
		if subset(svc.Spec.Selector, s.Pods[i].Labels) {
			out = append(out, &s.Pods[i])
		}
	}
	return out
}

func subset(want, have map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// missing makes the most of a subject that does not exist: a Job that its TTL
// removed is judged by what was seen of it, others are looked for in the
// learner's other namespaces.
func (s *scene) missing(ctx context.Context, f finding) finding {
	if !f.missing {
		return f
	}
	r := s.check.ref
	if _, ok := s.removed(r.name); ok && r.kind == KindJob {
		return s.remember()
	}
	found, err := s.cluster.Elsewhere(ctx, s.Namespace, r.kind, r.name)
	if err != nil || len(found) == 0 {
		return f // failing to look there costs only the hint
	}
	return fail(Msg("object.elsewhere", "kind", string(r.kind), "name", r.name,
		"namespace", s.Namespace, "found", strings.Join(found, ", "))).
		compared(s.Namespace, strings.Join(found, ", ")).of(f.Object).ranked(Declared).settle().doc(docNamespaces)
}

// remember judges a removed subject step by step; what history can't tell is
// no wrong answer.
func (s *scene) remember() finding {
	var f finding
	for i := range s.check.steps {
		st := &s.check.steps[i]
		if st.past == nil {
			return fault(Msg("job.removed", "job", s.check.ref.name)).of(s.check.ref.String()).ranked(Reported).settle()
		}
		if f = st.past(s); !f.ok() {
			return f
		}
	}
	return f.ranked(Reported)
}
