package kube

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// world is what a namespace holds that a Pod may need.
type world struct {
	configMaps  map[string]*corev1.ConfigMap
	secrets     map[string]*corev1.Secret
	services    map[string]*corev1.Service
	pods        []corev1.Pod
	replicaSets []appsv1.ReplicaSet
	deployments map[string]*appsv1.Deployment
}

// needs is what of a world a Pod needs, ready to be created elsewhere.
type needs struct {
	configMaps  map[string]*corev1.ConfigMap
	secrets     map[string]*corev1.Secret
	services    map[string]*corev1.Service
	accounts    map[string]bool
	pods        map[string]*corev1.Pod
	deployments map[string]*appsv1.Deployment
}

// need collects what a Pod of this spec needs: ConfigMaps and Secrets by
// reference, Services by name in its environment, command lines and
// configuration, the workloads behind those Services, and what these need.
func (w *world) need(spec *corev1.PodSpec) *needs {
	n := &needs{
		configMaps: map[string]*corev1.ConfigMap{}, secrets: map[string]*corev1.Secret{},
		services: map[string]*corev1.Service{}, accounts: map[string]bool{},
		pods: map[string]*corev1.Pod{}, deployments: map[string]*appsv1.Deployment{},
	}
	w.add(n, spec, spec)
	return n
}

func (w *world) add(n *needs, spec, subject *corev1.PodSpec) {
	if spec.ServiceAccountName != "" && spec.ServiceAccountName != "default" {
		n.accounts[spec.ServiceAccountName] = true
	}
	texts := commandTexts(spec)
	for _, name := range configMapNames(spec) {
		if cm := w.configMaps[name]; cm != nil {
			n.configMaps[name] = cm
			texts = slices.AppendSeq(texts, maps.Values(cm.Data))
		}
	}
	for _, name := range secretNames(spec) {
		if s := w.secrets[name]; s != nil {
			n.secrets[name] = s
			for _, v := range s.Data {
				texts = append(texts, string(v))
			}
		}
	}
	for name, service := range w.services {
		if n.services[name] != nil || !mentions(texts, name) {
			continue
		}
		n.services[name] = service
		w.addBehind(n, service, subject)
	}
}

// addBehind adds the workloads that a Service selects. The subject itself may
// be among them; its copy is the trial's business.
func (w *world) addBehind(n *needs, service *corev1.Service, subject *corev1.PodSpec) {
	if len(service.Spec.Selector) == 0 {
		return
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	for i := range w.pods {
		pod := &w.pods[i]
		if !selector.Matches(labels.Set(pod.Labels)) || pod.DeletionTimestamp != nil || equality.Semantic.DeepEqual(&pod.Spec, subject) {
			continue
		}
		if d := w.deploymentOf(pod); d != nil {
			if n.deployments[d.Name] == nil {
				n.deployments[d.Name] = d
				w.add(n, &d.Spec.Template.Spec, subject)
			}
			continue
		}
		if n.pods[pod.Name] == nil {
			n.pods[pod.Name] = pod
			w.add(n, &pod.Spec, subject)
		}
	}
}

func (w *world) deploymentOf(pod *corev1.Pod) *appsv1.Deployment {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	for i := range w.replicaSets {
		if rs := &w.replicaSets[i]; rs.UID == owner.UID {
			if top := metav1.GetControllerOf(rs); top != nil {
				return w.deployments[top.Name]
			}
		}
	}
	return nil
}

// eachContainer yields every container of a spec, wherever it is listed.
func eachContainer(spec *corev1.PodSpec, yield func(*corev1.Container)) {
	for i := range spec.InitContainers {
		yield(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		yield(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		c := corev1.Container(spec.EphemeralContainers[i].EphemeralContainerCommon)
		yield(&c)
	}
}

// commandTexts are the texts of a spec that can name a Service.
func commandTexts(spec *corev1.PodSpec) []string {
	var texts []string
	eachContainer(spec, func(c *corev1.Container) {
		texts = append(append(texts, c.Command...), c.Args...)
		for _, e := range c.Env {
			texts = append(texts, e.Value)
		}
		for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
			if p != nil && p.Exec != nil {
				texts = append(texts, p.Exec.Command...)
			}
		}
		if c.Lifecycle != nil {
			for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
				if h != nil && h.Exec != nil {
					texts = append(texts, h.Exec.Command...)
				}
			}
		}
	})
	return texts
}

// mentions tells whether a name stands in a text as a host would: not as part
// of a longer name, nor after a dot.
func mentions(texts []string, name string) bool {
	re := regexp.MustCompile(`(^|[^a-zA-Z0-9.-])` + regexp.QuoteMeta(name) + `($|[^a-zA-Z0-9-])`)
	// The environment variables of a Service: REDIS_BACKEND_SERVICE_HOST.
	variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_SERVICE_"
	return slices.ContainsFunc(texts, func(t string) bool {
		return re.MatchString(t) || strings.Contains(t, variable)
	})
}

func configMapNames(spec *corev1.PodSpec) []string {
	var names []string
	for _, v := range spec.Volumes {
		if v.ConfigMap != nil {
			names = append(names, v.ConfigMap.Name)
		}
		if v.Projected != nil {
			for _, s := range v.Projected.Sources {
				// Every namespace has this one; the API server mounts it.
				if s.ConfigMap != nil && s.ConfigMap.Name != "kube-root-ca.crt" {
					names = append(names, s.ConfigMap.Name)
				}
			}
		}
	}
	eachContainer(spec, func(c *corev1.Container) {
		for _, e := range c.EnvFrom {
			if e.ConfigMapRef != nil {
				names = append(names, e.ConfigMapRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				names = append(names, e.ValueFrom.ConfigMapKeyRef.Name)
			}
		}
	})
	return names
}

func secretNames(spec *corev1.PodSpec) []string {
	var names []string
	for _, v := range spec.Volumes {
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
		if v.Projected != nil {
			for _, s := range v.Projected.Sources {
				if s.Secret != nil {
					names = append(names, s.Secret.Name)
				}
			}
		}
	}
	for _, s := range spec.ImagePullSecrets {
		names = append(names, s.Name)
	}
	eachContainer(spec, func(c *corev1.Container) {
		for _, e := range c.EnvFrom {
			if e.SecretRef != nil {
				names = append(names, e.SecretRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				names = append(names, e.ValueFrom.SecretKeyRef.Name)
			}
		}
	})
	return names
}

// copyMeta is what a copy keeps: no ownership, no identity.
func copyMeta(o metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: o.Name, GenerateName: o.GenerateName,
		Labels: maps.Clone(o.Labels), Annotations: maps.Clone(o.Annotations),
	}
}

func copyService(s *corev1.Service) *corev1.Service {
	spec := *s.Spec.DeepCopy()
	if spec.ClusterIP != corev1.ClusterIPNone {
		spec.ClusterIP, spec.ClusterIPs = "", nil
	}
	spec.IPFamilies, spec.IPFamilyPolicy = nil, nil
	spec.HealthCheckNodePort = 0
	for i := range spec.Ports {
		spec.Ports[i].NodePort = 0
	}
	return &corev1.Service{ObjectMeta: copyMeta(s.ObjectMeta), Spec: spec}
}

// copyPodSpec drops what the API server and the scheduler added.
func copyPodSpec(spec *corev1.PodSpec) corev1.PodSpec {
	c := *spec.DeepCopy()
	c.NodeName, c.Priority, c.PreemptionPolicy = "", nil, nil
	c.EphemeralContainers = nil
	// The token's volume has a random name; the API server adds its own.
	injected := func(name string) bool { return strings.HasPrefix(name, "kube-api-access-") }
	c.Volumes = slices.DeleteFunc(c.Volumes, func(v corev1.Volume) bool { return injected(v.Name) })
	for _, list := range [][]corev1.Container{c.InitContainers, c.Containers} {
		for i := range list {
			list[i].VolumeMounts = slices.DeleteFunc(list[i].VolumeMounts, func(m corev1.VolumeMount) bool { return injected(m.Name) })
		}
	}
	return c
}

func copyPod(p *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: copyMeta(p.ObjectMeta), Spec: copyPodSpec(&p.Spec)}
}

func copyDeployment(d *appsv1.Deployment) *appsv1.Deployment {
	c := &appsv1.Deployment{ObjectMeta: copyMeta(d.ObjectMeta), Spec: *d.Spec.DeepCopy()}
	delete(c.Annotations, "deployment.kubernetes.io/revision")
	c.Spec.Template.Spec = copyPodSpec(&c.Spec.Template.Spec)
	return c
}

// copyJob drops the selector and labels that the API server gave the original
// to find its own Pods by.
func copyJob(j *batchv1.Job) *batchv1.Job {
	c := &batchv1.Job{ObjectMeta: copyMeta(j.ObjectMeta), Spec: *j.Spec.DeepCopy()}
	if c.Spec.ManualSelector == nil || !*c.Spec.ManualSelector {
		c.Spec.Selector = nil
		for _, l := range []map[string]string{c.Labels, c.Spec.Template.Labels} {
			for _, key := range []string{"controller-uid", "job-name", batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
				delete(l, key)
			}
		}
	}
	c.Spec.Template.Spec = copyPodSpec(&c.Spec.Template.Spec)
	return c
}
