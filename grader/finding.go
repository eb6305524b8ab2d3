package grader

import (
	"context"
	"time"
)

// lookFunc judges a snapshot.
type lookFunc func(*scene) finding

// actFunc asks the cluster.
type actFunc func(context.Context, *scene) (finding, error)

// finding is what a step came to.
type finding struct {
	Verdict  Verdict  `json:"verdict"`
	Rank     Rank     `json:"rank,omitempty"`
	Object   string   `json:"object,omitempty"`
	Path     string   `json:"path,omitempty"`
	Reason   Message  `json:"reason"`
	Expected string   `json:"expected,omitempty"`
	Observed string   `json:"observed,omitempty"`
	Because  *Message `json:"because,omitempty"`
	Docs     string   `json:"docs,omitempty"`
	Excerpt  string   `json:"excerpt,omitempty"`

	// settled: waiting cannot change it.
	settled bool
	// since is when that which a pending finding waits for began. A wait that
	// has taken longer than the check allows is a failure, whenever it was
	// that somebody came to look.
	since time.Time
	// missing: the subject does not exist.
	missing bool
}

func pass(m Message) finding    { return finding{Verdict: Pass, Reason: m} }
func fail(m Message) finding    { return finding{Verdict: Fail, Reason: m} }
func pending(m Message) finding { return finding{Verdict: Pending, Reason: m} }

func (f finding) at(path string) finding    { f.Path = path; return f }
func (f finding) of(object string) finding  { f.Object = object; return f }
func (f finding) ranked(r Rank) finding     { f.Rank = r; return f }
func (f finding) doc(page string) finding   { f.Docs = page; return f }
func (f finding) show(text string) finding  { f.Excerpt = clip(text); return f }
func (f finding) why(m Message) finding     { f.Because = &m; return f }
func (f finding) settle() finding           { f.settled = true; return f }
func (f finding) began(t time.Time) finding { f.since = t; return f }
func (f finding) compared(want, got string) finding {
	f.Expected, f.Observed = want, got
	return f
}

// ok reports whether the step passed.
func (f finding) ok() bool { return f.Verdict == Pass }

// maxExcerpt bounds the raw evidence of one result, in bytes.
const maxExcerpt = 2000

// clip keeps the end of a long text: in logs that is where it went wrong.
func clip(s string) string {
	if len(s) <= maxExcerpt {
		return s
	}
	cut := len(s) - maxExcerpt
	for cut < len(s) && s[cut]&0xC0 == 0x80 {
		cut++
	}
	return "…" + s[cut:]
}

// Pages of the Kubernetes documentation that results point to.
const (
	docSidecar    = "https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/"
	docInit       = "https://kubernetes.io/docs/concepts/workloads/pods/init-containers/"
	docLifecycle  = "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/"
	docVolumes    = "https://kubernetes.io/docs/concepts/storage/volumes/"
	docJob        = "https://kubernetes.io/docs/concepts/workloads/controllers/job/"
	docCronJob    = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"
	docCommand    = "https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/"
	docLabels     = "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/"
	docResources  = "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
	docQoS        = "https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/"
	docEphemeral  = "https://kubernetes.io/docs/tasks/debug/debug-application/debug-running-pod/"
	docDebugPods  = "https://kubernetes.io/docs/tasks/debug/debug-application/debug-pods/"
	docNetwork    = "https://kubernetes.io/docs/concepts/workloads/pods/#pod-networking"
	docNamespaces = "https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/"
	docEnv        = "https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/"
	docProbes     = "https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/"
)
