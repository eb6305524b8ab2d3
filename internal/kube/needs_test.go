package kube

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shopWorld has a Service redis before a Deployment, whose Pods need a
// ConfigMap, and a Service api before a bare Pod.
func shopWorld() *world {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	owned := func(name, kind, owner string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: owner, UID: "uid-rs", Controller: new(true)}},
		}
	}
	service := func(name, app string) *corev1.Service {
		return &corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": app}}}
	}
	backend := corev1.PodSpec{Containers: []corev1.Container{{
		Name: "redis", EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "redis-env"},
		}}},
	}}}
	deployment := &appsv1.Deployment{ObjectMeta: meta("redis")}
	deployment.Spec.Template.Spec = backend
	rs := appsv1.ReplicaSet{ObjectMeta: owned("redis-1", "Deployment", "redis", nil)}
	rs.UID = "uid-rs"
	return &world{
		configMaps: map[string]*corev1.ConfigMap{
			"redis-env": {ObjectMeta: meta("redis-env"), Data: map[string]string{"MODE": "standalone"}},
			"proxy":     {ObjectMeta: meta("proxy"), Data: map[string]string{"nginx.conf": "proxy_pass http://redis.shop.svc:6379;"}},
			"unused":    {ObjectMeta: meta("unused")},
		},
		secrets: map[string]*corev1.Secret{
			"key": {ObjectMeta: meta("key"), Data: map[string][]byte{"url": []byte("http://api:8080")}},
		},
		services: map[string]*corev1.Service{
			"redis": service("redis", "redis"), "api": service("api", "api"), "red": service("red", "red"),
		},
		pods: []corev1.Pod{
			{ObjectMeta: owned("redis-1-x", "ReplicaSet", "redis-1", map[string]string{"app": "redis"}), Spec: backend},
			{ObjectMeta: metav1.ObjectMeta{Name: "api", Labels: map[string]string{"app": "api"}}, Spec: corev1.PodSpec{NodeName: "n"}},
		},
		replicaSets: []appsv1.ReplicaSet{rs},
		deployments: map[string]*appsv1.Deployment{"redis": deployment},
	}
}

func TestAPodGetsWhatItNeedsAndNothingElse(t *testing.T) {
	type got struct{ ConfigMaps, Secrets, Services, Pods, Deployments, Accounts []string }
	named := func(n string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: n} }
	container := func(c corev1.Container) corev1.PodSpec { return corev1.PodSpec{Containers: []corev1.Container{c}} }
	tests := map[string]struct {
		spec corev1.PodSpec
		want got
	}{
		"nothing": {container(corev1.Container{Command: []string{"sleep", "redistribute", "my-redis", "redis-2"}}), got{}},
		"a Service in a command, its Deployment and what that needs": {
			container(corev1.Container{Command: []string{"sh", "-c", "nc -z redis 6379"}}),
			got{ConfigMaps: []string{"redis-env"}, Services: []string{"redis"}, Deployments: []string{"redis"}},
		},
		"a Service in an environment value, its bare Pod": {
			container(corev1.Container{Env: []corev1.EnvVar{{Name: "API", Value: "http://api:8080/x"}}}),
			got{Services: []string{"api"}, Pods: []string{"api"}},
		},
		"a Service by its environment variable": {
			container(corev1.Container{Args: []string{"wget $API_SERVICE_HOST"}}),
			got{Services: []string{"api"}, Pods: []string{"api"}},
		},
		"a Service in the text of a mounted ConfigMap": {
			corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "ambassador", Image: "nginx"}},
				Volumes:        []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("proxy")}}}},
			},
			got{ConfigMaps: []string{"proxy", "redis-env"}, Services: []string{"redis"}, Deployments: []string{"redis"}},
		},
		"a Secret by key, and the Service that it names": {
			corev1.PodSpec{ServiceAccountName: "robot", Containers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("key"), Key: "url"},
			}}}}}},
			got{Secrets: []string{"key"}, Services: []string{"api"}, Pods: []string{"api"}, Accounts: []string{"robot"}},
		},
		"a ConfigMap that does not exist": {
			container(corev1.Container{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("absent")}}}}),
			got{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := shopWorld().need(&test.spec)
			have := got{
				sorted(n.configMaps), sorted(n.secrets), sorted(n.services),
				sorted(n.pods), sorted(n.deployments), sorted(n.accounts),
			}
			if d := cmp.Diff(test.want, have, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("needs (-want +got):\n%s", d)
			}
		})
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func TestASubjectBehindTheServiceThatItNamesIsNotCopied(t *testing.T) {
	w := shopWorld()
	w.pods[1].Spec.Containers = []corev1.Container{{Command: []string{"wget", "api:80"}}}
	n := w.need(w.pods[1].Spec.DeepCopy())
	if got := sorted(n.services); !slices.Equal(got, []string{"api"}) {
		t.Errorf("services = %v, want api", got)
	}
	if len(n.pods) != 0 {
		t.Errorf("the subject itself is copied: %v", sorted(n.pods))
	}
}

func TestAddressesOfTheOriginalPointAtTheCopy(t *testing.T) {
	tests := map[string]string{
		"http://redis.shop:6379":                   "http://redis.copy:6379",
		"redis.shop.svc.cluster.local redis.shop/": "redis.copy.svc.cluster.local redis.copy/",
		"redis:6379":         "redis:6379",
		"my-redis.shop":      "my-redis.shop",
		"redis.shopping.svc": "redis.shopping.svc",
		"redis.shop-2":       "redis.shop-2",
	}
	for text, want := range tests {
		if got := rehome(text, "redis", "shop", "copy"); got != want {
			t.Errorf("rehome(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestACopyHasNoIdentity(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", UID: "u", ResourceVersion: "7", Namespace: "shop", Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{Name: "x"}}, Finalizers: []string{"x/y"},
		},
		Spec: corev1.PodSpec{
			NodeName: "n", Priority: new(int32(0)),
			Volumes: []corev1.Volume{{Name: "data"}, {Name: "kube-api-access-abcde"}},
			InitContainers: []corev1.Container{{
				Name: "a", VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-abcde"}, {Name: "data"}},
			}},
			EphemeralContainers: []corev1.EphemeralContainer{{}},
		},
		Status: corev1.PodStatus{Phase: "Running"},
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Volumes:        []corev1.Volume{{Name: "data"}},
			InitContainers: []corev1.Container{{Name: "a", VolumeMounts: []corev1.VolumeMount{{Name: "data"}}}},
		},
	}
	before := pod.DeepCopy()
	if d := cmp.Diff(want, copyPod(pod), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("copy (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, pod); d != "" {
		t.Errorf("copying changed the original:\n%s", d)
	}
}

func TestACopiedServiceGetsItsOwnAddressUnlessItIsHeadless(t *testing.T) {
	plain := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}}}}
	if got := copyService(plain).Spec; got.ClusterIP != "" || got.ClusterIPs != nil || got.Ports[0].NodePort != 0 || got.Ports[0].Port != 80 {
		t.Errorf("copy of a plain Service = %+v", got)
	}
	headless := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, ClusterIPs: []string{corev1.ClusterIPNone}}}
	if got := copyService(headless).Spec; got.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("copy of a headless Service = %+v", got)
	}
}
