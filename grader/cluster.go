package grader

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// Cluster is all that grading sees of a cluster. Every method is bounded by
// its context; an error means that it could not look, never that an object is
// missing.
type Cluster interface {
	// Snapshot lists the objects of the given kinds in a namespace, in parallel.
	Snapshot(ctx context.Context, namespace string, kinds []Kind) (*Snapshot, error)
	// Elsewhere lists other lab namespaces of the same learner that hold an
	// object of this kind and name.
	Elsewhere(ctx context.Context, namespace string, kind Kind, name string) ([]string, error)
	// Logs returns the tail of a container's log, at most that many bytes.
	Logs(ctx context.Context, pod PodRef, container string, previous bool, most int) (string, error)
	// Exec runs a command in a running container. A command that ran and
	// failed is no error: its code is in the answer.
	Exec(ctx context.Context, pod PodRef, container string, command []string) (ExecResult, error)
	// Get fetches a URL from inside the Pod's network namespace: "localhost"
	// is the Pod's own. A refused connection is no error: it is in the answer.
	Get(ctx context.Context, pod PodRef, container, url string) (GetResult, error)
	// Scratch makes an empty namespace for a trial. The caller must Close it.
	Scratch(ctx context.Context) (Scratch, error)
}

// Scratch is a namespace for one trial; it is a Cluster that can also write.
type Scratch interface {
	Cluster
	Namespace() string
	// CopyNeeds copies ConfigMaps, Secrets and Services that a Pod of this
	// spec needs, and the Pods behind those Services, from a namespace.
	CopyNeeds(ctx context.Context, from string, spec *corev1.PodSpec) error
	CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error)
	CreateDeployment(ctx context.Context, d *appsv1.Deployment) (*appsv1.Deployment, error)
	// DeletePod deletes with the Pod's own grace period; DeleteService at once.
	DeletePod(ctx context.Context, name string) error
	DeleteService(ctx context.Context, name string) error
	// Watch reports container state changes of a Pod in the order in which
	// they are seen, until the Pod is gone or ctx ends.
	Watch(ctx context.Context, pod string) (<-chan Change, error)
	// Close removes the namespace; it works after ctx has ended.
	Close() error
}

// PodRef names a Pod.
type PodRef struct{ Namespace, Name string }

// ExecResult is what a command did.
type ExecResult struct {
	Code           int
	Stdout, Stderr string
}

// GetResult is an HTTP answer, or the reason why there was none.
type GetResult struct {
	Status int
	Body   string
	// Failed is the connection's failure, "" where an answer came.
	Failed string
}

// ErrNoShell is returned by Exec and Get for a container that has no program
// to do it with.
var ErrNoShell = errors.New("the container has no shell or HTTP client")

// Kind is a kind that checks can mention, as the API spells it.
type Kind string

// The kinds that checks can mention.
const (
	KindPod           Kind = "Pod"
	KindDeployment    Kind = "Deployment"
	KindReplicaSet    Kind = "ReplicaSet"
	KindJob           Kind = "Job"
	KindCronJob       Kind = "CronJob"
	KindService       Kind = "Service"
	KindEndpointSlice Kind = "EndpointSlice"
	KindConfigMap     Kind = "ConfigMap"
	KindSecret        Kind = "Secret"
	KindEvent         Kind = "Event"
)

// Snapshot is a namespace at one time. Only kinds that were asked for are filled.
type Snapshot struct {
	Namespace string    `json:"namespace"`
	Taken     time.Time `json:"taken"` // by the server's clock where it is known

	Pods           []corev1.Pod                `json:"pods,omitempty"`
	Deployments    []appsv1.Deployment         `json:"deployments,omitempty"`
	ReplicaSets    []appsv1.ReplicaSet         `json:"replicaSets,omitempty"`
	Jobs           []batchv1.Job               `json:"jobs,omitempty"`
	CronJobs       []batchv1.CronJob           `json:"cronJobs,omitempty"`
	Services       []corev1.Service            `json:"services,omitempty"`
	EndpointSlices []discoveryv1.EndpointSlice `json:"endpointSlices,omitempty"`
	ConfigMaps     []corev1.ConfigMap          `json:"configMaps,omitempty"`
	Secrets        []corev1.Secret             `json:"secrets,omitempty"`
	Events         []corev1.Event              `json:"events,omitempty"`

	// History is what the recorder saw, oldest first; Blind are spans in which
	// it could not see.
	History []Change `json:"history,omitempty"`
	Blind   []Span   `json:"blind,omitempty"`
}

// Span is a stretch of time.
type Span struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// Change is one container's (or, with an empty Container, one object's) change
// of state as the recorder saw it.
type Change struct {
	Seen time.Time `json:"seen"` // to the millisecond, by the recorder's clock
	// Object is "Pod/web", "Job/count"; UID tells two of the same name apart.
	Object    string `json:"object"`
	UID       string `json:"uid"`
	Owner     string `json:"owner,omitempty"` // "Job/count", where a controller owns it
	Container string `json:"container,omitempty"`
	// State is waiting, running, terminated, ready, unready for a container;
	// phases, conditions, "deleting" and "deleted" for an object.
	State    string     `json:"state"`
	Reason   string     `json:"reason,omitempty"`
	ExitCode *int32     `json:"exitCode,omitempty"`
	Restarts int32      `json:"restarts,omitempty"`
	At       *time.Time `json:"at,omitempty"` // the API's own time, whole seconds
}

// Evidence is what an evaluation saw: its last snapshot and what each probe
// and trial came to, so that a later release can evaluate it again offline.
type Evidence struct {
	Snapshot *Snapshot         `json:"snapshot,omitempty"`
	Nonce    string            `json:"nonce,omitempty"`
	Probes   map[string]string `json:"probes,omitempty"`
}
