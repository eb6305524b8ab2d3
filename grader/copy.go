package grader

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Copies carry what the learner wrote and nothing that the cluster added: no
// owner, no identity, no node, no token.

func copyPod(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: copyMeta(&pod.ObjectMeta, pod.Name), Spec: copySpec(&pod.Spec)}
}

// copyJob makes a Job of a Job's spec, or of a CronJob's jobTemplate.
func copyJob(name string, meta *metav1.ObjectMeta, spec *batchv1.JobSpec) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: copyMeta(meta, name), Spec: *spec.DeepCopy()}
	job.Spec.Selector = nil
	job.Spec.ManualSelector = nil
	// A copy that removed itself could not be read.
	job.Spec.TTLSecondsAfterFinished = nil
	job.Spec.Template.ObjectMeta = copyMeta(&spec.Template.ObjectMeta, "")
	job.Spec.Template.Spec = copySpec(&spec.Template.Spec)
	return job
}

func copyDeployment(d *appsv1.Deployment) *appsv1.Deployment {
	c := &appsv1.Deployment{ObjectMeta: copyMeta(&d.ObjectMeta, d.Name), Spec: *d.Spec.DeepCopy()}
	c.Spec.Template.ObjectMeta = copyMeta(&d.Spec.Template.ObjectMeta, "")
	c.Spec.Template.Spec = copySpec(&d.Spec.Template.Spec)
	return c
}

func copyMeta(m *metav1.ObjectMeta, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: own(m.Labels), Annotations: own(m.Annotations)}
}

// own leaves out the keys that controllers and kubectl write.
func own(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		group, _, grouped := strings.Cut(k, "/")
		byCluster := grouped && (strings.HasPrefix(group, "batch.kubernetes.io") ||
			strings.HasPrefix(group, "deployment.kubernetes.io") || strings.HasPrefix(group, "kubectl.kubernetes.io"))
		if byCluster || k == "controller-uid" || k == "job-name" {
			continue
		}
		out[k] = v
	}
	return out
}

// tokenVolume is how the names of the volumes begin that the API server adds.
const tokenVolume = "kube-api-access-"

func copySpec(spec *corev1.PodSpec) corev1.PodSpec {
	c := *spec.DeepCopy()
	c.NodeName = ""
	c.ServiceAccountName = ""
	c.DeprecatedServiceAccount = ""
	c.EphemeralContainers = nil
	c.Priority = nil
	c.PreemptionPolicy = nil
	c.Volumes = slices.DeleteFunc(c.Volumes, func(v corev1.Volume) bool {
		return strings.HasPrefix(v.Name, tokenVolume)
	})
	for _, l := range [][]corev1.Container{c.InitContainers, c.Containers} {
		for i := range l {
			l[i].VolumeMounts = slices.DeleteFunc(l[i].VolumeMounts, func(m corev1.VolumeMount) bool {
				return strings.HasPrefix(m.Name, tokenVolume)
			})
		}
	}
	return c
}
