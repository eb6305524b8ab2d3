package labs

import "time"

// Check is one assertion with points: one subject and one or more matchers,
// all of which must hold. Matchers run in the order of the fields below:
// what is declared first, then what is reported, then probes (exec, http,
// logs), then trials; a later one runs only when the earlier ones passed.
//
// Containers are always named and found wherever they stand: in containers,
// initContainers or ephemeralContainers.
type Check struct {
	ID     string `json:"id" jsonschema:"required,pattern=^[a-z][a-z0-9-]*$"`
	Points int    `json:"points" jsonschema:"required,minimum=1"`
	Title  Text   `json:"title" jsonschema:"required"`
	// Needs lists ids of checks that must pass before this one is looked at;
	// otherwise it fails and says which.
	Needs []string `json:"needs,omitempty"`
	// Default marks a check on a value that leaving the field out gives too.
	Default bool `json:"default,omitempty"`

	Subject `json:",inline"`

	Labels        *Labels        `json:"labels,omitempty"`
	Fields        []Field        `json:"fields,omitempty"`
	Process       *Process       `json:"process,omitempty"`
	Resources     *Resources     `json:"resources,omitempty"`
	InitOrder     *InitOrder     `json:"initOrder,omitempty"`
	NativeSidecar *NativeSidecar `json:"nativeSidecar,omitempty"`
	Sidecar       *Sidecar       `json:"sidecar,omitempty"`
	SharedVolume  *SharedVolume  `json:"sharedVolume,omitempty"`
	JobSpec       *JobSpec       `json:"jobSpec,omitempty"`
	CronJobSpec   *CronJobSpec   `json:"cronJobSpec,omitempty"`
	Ephemeral     *Ephemeral     `json:"ephemeral,omitempty"`
	CEL           string         `json:"cel,omitempty"`
	Status        *Status        `json:"status,omitempty"`
	Events        *Events        `json:"events,omitempty"`
	Env           *Env           `json:"env,omitempty"`
	Exec          *Exec          `json:"exec,omitempty"`
	HTTP          *HTTP          `json:"http,omitempty"`
	Logs          *Logs          `json:"logs,omitempty"`
	Ambassador    *Ambassador    `json:"ambassador,omitempty"`
	Adapter       *Adapter       `json:"adapter,omitempty"`
	Termination   *Termination   `json:"termination,omitempty"`
	Trial         *Trial         `json:"trial,omitempty"`
}

// Subject names the one object that a check is about. A check with cel alone
// may have none. Because a key names the kind, the matchers for a Job's and a
// CronJob's own fields are called jobSpec and cronJobSpec in task.yaml.
type Subject struct {
	Pod        string `json:"pod,omitempty"`
	Deployment string `json:"deployment,omitempty"`
	Job        string `json:"job,omitempty"`
	CronJob    string `json:"cronJob,omitempty"`
	Service    string `json:"service,omitempty"`
	ConfigMap  string `json:"configMap,omitempty"`
	Secret     string `json:"secret,omitempty"`
}

// Labels are labels and annotations that the subject must carry; others may
// stand beside them.
type Labels struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Field compares one field of the subject by meaning. Exactly one of Equals,
// OneOf, Contains, Exists is given.
//
// Path is dotted from the object's root: "spec.restartPolicy". Three forms
// besides: "list[name]" selects a list's element by its name; "container[web]"
// is the container called web of the subject's Pod template wherever it is
// listed; "template" is the Pod template (or the Pod itself), so that
// "template.spec.restartPolicy" serves every kind.
type Field struct {
	Path     string `json:"path" jsonschema:"required"`
	Equals   any    `json:"equals,omitempty"`
	OneOf    []any  `json:"oneOf,omitempty"`
	Contains any    `json:"contains,omitempty"` // a list has this element, or a text this part
	Exists   *bool  `json:"exists,omitempty"`   // false: the field is unset
	// As says how values compare; left out, the path decides (an image as an
	// image, resources as quantities, schedule as a cron schedule, and so on).
	As string `json:"as,omitempty" jsonschema:"enum=quantity,enum=image,enum=cron,enum=command,enum=duration,enum=port,enum=path,enum=text"`
}

// Process is what a container runs: the argument vector after the image's
// entrypoint, command, args and simple shell forms have been put together.
type Process struct {
	Container string   `json:"container" jsonschema:"required"`
	Argv      []string `json:"argv,omitempty"`
	// UsesCommand and UsesArgs ask for the field itself, where a prompt does.
	UsesCommand *bool `json:"usesCommand,omitempty"`
	UsesArgs    *bool `json:"usesArgs,omitempty"`
}

// Resources are requests, limits and what follows from them.
type Resources struct {
	Container string            `json:"container,omitempty"`
	Requests  map[string]string `json:"requests,omitempty"`
	Limits    map[string]string `json:"limits,omitempty"`
	// QoS is Guaranteed, Burstable or BestEffort, as status.qosClass has it.
	QoS string `json:"qos,omitempty" jsonschema:"enum=Guaranteed,enum=Burstable,enum=BestEffort"`
	// Effective is the Pod's effective request by the scheduler's arithmetic;
	// AtMost bounds it.
	Effective map[string]string `json:"effective,omitempty"`
	AtMost    map[string]string `json:"atMost,omitempty"`
}

// InitOrder is an order of plain init containers, in the list and in time.
// Others may stand between them.
type InitOrder struct {
	Containers []string `json:"containers" jsonschema:"required,minItems=1"`
}

// NativeSidecar is a container in initContainers with restartPolicy Always
// that is running.
type NativeSidecar struct {
	Container string `json:"container" jsonschema:"required"`
	Image     string `json:"image,omitempty"`
	// Before lists init containers that must start after the sidecar did.
	Before []string `json:"before,omitempty"`
	// Probe asks that the container declares it: startup, readiness, liveness.
	Probe string `json:"probe,omitempty" jsonschema:"enum=startup,enum=readiness,enum=liveness"`
}

// Sidecar is a helper container beside the main one.
type Sidecar struct {
	Container string `json:"container" jsonschema:"required"`
	Image     string `json:"image,omitempty"`
	// Native is either (the default) or forbidden; use nativeSidecar to demand it.
	Native string `json:"native,omitempty" jsonschema:"enum=either,enum=forbidden"`
}

// SharedVolume is one volume mounted by each container at its path.
type SharedVolume struct {
	// Type is emptyDir, configMap, secret, ...: the volume's source as the API spells it.
	Type string `json:"type,omitempty"`
	// Mounts maps a container to its mount path.
	Mounts map[string]string `json:"mounts" jsonschema:"required"`
	// ReadOnly lists containers that must mount it read-only; the others must be able to write,
	// unless they stand in Either.
	ReadOnly []string `json:"readOnly,omitempty"`
	Either   []string `json:"either,omitempty"`
	// Only asks that no container besides those in Mounts mounts the volume.
	Only bool `json:"only,omitempty"`
}

// JobSpec is what a Job (or a CronJob's jobTemplate) declares and what came of
// it. A field left out is not judged.
type JobSpec struct {
	Completions             *int32 `json:"completions,omitempty"`
	Parallelism             *int32 `json:"parallelism,omitempty"`
	BackoffLimit            *int32 `json:"backoffLimit,omitempty"`
	ActiveDeadlineSeconds   *int64 `json:"activeDeadlineSeconds,omitempty"`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	CompletionMode          string `json:"completionMode,omitempty" jsonschema:"enum=NonIndexed,enum=Indexed"`
	// RestartPolicy that rules the ordinary containers: the Pod template's, or each one's own.
	RestartPolicy string `json:"restartPolicy,omitempty" jsonschema:"enum=Never,enum=OnFailure"`
	// Succeeded is the least count of succeeded Pods.
	Succeeded *int32 `json:"succeeded,omitempty"`
	// PeakActive is how many Pods must have been active at one time; more are no mistake here.
	PeakActive *int32 `json:"peakActive,omitempty"`
	// Lasts is how long the longest of the succeeded Pods must have worked, in
	// whole seconds as the API tells them.
	Lasts Duration `json:"lasts,omitempty"`
	// Condition is the condition that must be True: Complete or Failed; Reason is its reason.
	Condition string   `json:"condition,omitempty" jsonschema:"enum=Complete,enum=Failed"`
	Reason    string   `json:"reason,omitempty"`
	Within    Duration `json:"within,omitempty"`
}

// CronJobSpec is what a CronJob declares. A field left out is not judged, but a
// schedule that is suspended is none, unless a check on this CronJob judges suspend.
type CronJobSpec struct {
	Schedule string `json:"schedule,omitempty"`
	// TimeZone that the schedule is read in. Where no check on this CronJob names one, a zone
	// that makes the schedule fire at other times than in UTC is a mistake.
	TimeZone                   *string  `json:"timeZone,omitempty"`
	ConcurrencyPolicy          string   `json:"concurrencyPolicy,omitempty" jsonschema:"enum=Allow,enum=Forbid,enum=Replace"`
	StartingDeadlineSeconds    *int64   `json:"startingDeadlineSeconds,omitempty"`
	SuccessfulJobsHistoryLimit *int32   `json:"successfulJobsHistoryLimit,omitempty"`
	FailedJobsHistoryLimit     *int32   `json:"failedJobsHistoryLimit,omitempty"`
	Suspend                    *bool    `json:"suspend,omitempty"`
	Job                        *JobSpec `json:"job,omitempty"`
	// ManualJob asks for a Job of this name made from the CronJob by hand.
	ManualJob string `json:"manualJob,omitempty"`
}

// Ephemeral is an ephemeral container in the subject Pod; the best one counts.
type Ephemeral struct {
	Target string `json:"target,omitempty"` // targetContainerName
	Image  string `json:"image,omitempty"`
}

// Status is what Kubernetes reports of the subject.
type Status struct {
	Phase string `json:"phase,omitempty" jsonschema:"enum=Pending,enum=Running,enum=Succeeded,enum=Failed"`
	// Ready asks for the Ready condition (a Deployment: Available) and, when
	// true, that it holds over StableFor (default 3s).
	Ready     *bool    `json:"ready,omitempty"`
	StableFor Duration `json:"stableFor,omitempty"`
	// MaxRestarts bounds the restarts of each container.
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
	// MinRestarts asks that some container has restarted at least so often.
	MinRestarts *int32 `json:"minRestarts,omitempty"`
	// Containers maps a container to the state it must be in.
	Containers map[string]ContainerStatus `json:"containers,omitempty"`
	// Replicas is the least count of ready replicas of a Deployment.
	Replicas *int32 `json:"replicas,omitempty"`
	// Endpoints is the least count of ready addresses of a Service.
	Endpoints *int32   `json:"endpoints,omitempty"`
	Within    Duration `json:"within,omitempty"`
}

// ContainerStatus is the state of one container.
type ContainerStatus struct {
	State    string `json:"state,omitempty" jsonschema:"enum=waiting,enum=running,enum=terminated"`
	Reason   string `json:"reason,omitempty"`
	ExitCode *int32 `json:"exitCode,omitempty"`
	Started  *bool  `json:"started,omitempty"`
}

// Events are events about the subject.
type Events struct {
	Type     string   `json:"type,omitempty" jsonschema:"enum=Normal,enum=Warning"`
	Reason   string   `json:"reason,omitempty"`
	Contains string   `json:"contains,omitempty"`
	Within   Duration `json:"within,omitempty"`
}

// Env is the environment that the container's process really has.
type Env struct {
	Container string            `json:"container" jsonschema:"required"`
	Vars      map[string]string `json:"vars" jsonschema:"required"`
	// From maps a variable to where its value must come from, where the prompt
	// says so: "configMap/NAME", "secret/NAME" or "field/metadata.name".
	From   map[string]string `json:"from,omitempty"`
	Within Duration          `json:"within,omitempty"`
}

// Match is how a text is judged. All that are given must hold.
type Match struct {
	Contains string `json:"contains,omitempty"`
	// Lines must stand in the text as whole lines, in this order.
	Lines   []string `json:"lines,omitempty"`
	Matches string   `json:"matches,omitempty"` // RE2
	Absent  string   `json:"absent,omitempty"`  // must not occur
	Equals  *string  `json:"equals,omitempty"`  // after trimming white space
}

// Exec runs a command in a container and judges its output.
type Exec struct {
	Container string   `json:"container" jsonschema:"required"`
	Command   []string `json:"command" jsonschema:"required,minItems=1"`
	// ExitCode is 0 unless given.
	ExitCode int `json:"exitCode,omitempty"`
	Match    `json:",inline"`
	Within   Duration `json:"within,omitempty"`
}

// HTTP gets a URL from inside a container's network namespace.
type HTTP struct {
	Container string `json:"container,omitempty"`
	Get       string `json:"get" jsonschema:"required"`
	// Status is the wanted code; 0 accepts any answer.
	Status int `json:"status,omitempty"`
	Match  `json:",inline"`
	Within Duration `json:"within,omitempty"`
}

// Logs judges what a container wrote. For a Job or Deployment: in any of its Pods;
// Pods asks for at least that many Pods that match.
type Logs struct {
	Container string `json:"container,omitempty"`
	Previous  bool   `json:"previous,omitempty"`
	Pods      int    `json:"pods,omitempty"`
	Match     `json:",inline"`
	Within    Duration `json:"within,omitempty"`
}

// Ambassador is a main container that speaks to localhost only and a second
// one that carries it to a Service. It is judged by a connection from inside
// the main container whose answer must come from the backend, and by a trial
// in which the backend is away and the connection must fail.
type Ambassador struct {
	App       string `json:"app" jsonschema:"required"`
	Container string `json:"container" jsonschema:"required"`
	// Port on localhost.
	Port int `json:"port" jsonschema:"required"`
	// Backend is the Service behind it, "NAME:PORT".
	Backend string `json:"backend" jsonschema:"required"`
	// Get is the HTTP path to ask for; the answer must equal the backend's own.
	Get    string   `json:"get,omitempty"`
	Within Duration `json:"within,omitempty"`
}

// Adapter is a main container whose own output stays as it is and a second
// one that serves it as Prometheus text. It is judged with the real parser,
// and by adding lines and seeing the metric change.
type Adapter struct {
	App       string `json:"app" jsonschema:"required"`
	Container string `json:"container" jsonschema:"required"`
	// Port and Path of the metrics on localhost.
	Port int    `json:"port" jsonschema:"required"`
	Path string `json:"path,omitempty"`
	// Metric is the metric's name; Labels select one series.
	Metric string            `json:"metric" jsonschema:"required"`
	Labels map[string]string `json:"labels,omitempty"`
	// Source is the file, as the app container sees it, that the adapter reads; Line is
	// a line to add there, in a copy of the Pod, that must raise the metric by one.
	Source string `json:"source" jsonschema:"required"`
	Line   string `json:"line" jsonschema:"required"`
	// Ignores is a line that looks alike and must not raise it.
	Ignores string `json:"ignores,omitempty"`
	// Fresh is how old the number may be at most. The trial allows a little
	// more, for its own looks; left out, Within bounds it.
	Fresh  Duration `json:"fresh,omitempty"`
	Within Duration `json:"within,omitempty"`
}

// Termination deletes a copy of the subject Pod and measures how it ends.
type Termination struct {
	// Grace is terminationGracePeriodSeconds, by the field.
	Grace *int64 `json:"grace,omitempty"`
	// Order lists containers in the order in which they must stop.
	Order []string `json:"order,omitempty"`
	// ExitCodes maps a container to the exit code that it must end with.
	ExitCodes map[string]int32 `json:"exitCodes,omitempty"`
	// AtMost bounds the time from deletion to the last container's end.
	AtMost Duration `json:"atMost,omitempty"`
	// Logs maps a container to text that it must write while it stops.
	Logs map[string]string `json:"logs,omitempty"`
}

// Trial is an experiment on a copy of the subject in a scratch namespace.
// Exactly one of the experiments is given.
type Trial struct {
	// Run makes a Job of the subject's template (Job, CronJob) or a copy of the
	// Pod, and waits for it to succeed.
	Run *TrialRun `json:"run,omitempty"`
	// FailInit makes the named init container fail: the Pod must not start.
	FailInit string `json:"failInit,omitempty"`
	// Kill ends the named container's process: it must run again.
	Kill string `json:"kill,omitempty"`
	// Delete deletes the Pods of a Deployment's copy: they must come back.
	Delete bool     `json:"delete,omitempty"`
	Within Duration `json:"within,omitempty"`
}

// TrialRun is what a run of the copy must come to.
type TrialRun struct {
	// Condition of the Job: Complete (the default) or Failed.
	Condition string `json:"condition,omitempty" jsonschema:"enum=Complete,enum=Failed"`
	Reason    string `json:"reason,omitempty"`
	Logs      *Logs  `json:"logs,omitempty"`
	// After maps an init container of a Pod to a command that runs right after it
	// in the copy, with its image, mounts and environment. It changes what that
	// container left behind, with {{nonce}}, so that a later one that does not
	// read it is found out.
	After map[string][]string `json:"after,omitempty"`
}

// Duration is a time span written as Go writes it: "20s", "1m30s".
type Duration time.Duration
