package grader

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// list is where in a Pod's spec a container stands.
type list string

const (
	mainList      list = "containers"
	initList      list = "initContainers"
	ephemeralList list = "ephemeralContainers"
)

// container is one container of a Pod template, wherever it is listed.
type container struct {
	*corev1.Container
	list  list
	index int
}

// native reports whether it is a native sidecar.
func (c container) native() bool { return c.list == initList && restartable(c.Container) }

// plainInit reports whether it is an init container that runs to its end.
func (c container) plainInit() bool { return c.list == initList && !restartable(c.Container) }

// path is where it stands in the Pod's spec: "spec.initContainers[log-shipper]".
func (c container) path() string { return "spec." + string(c.list) + "[" + c.Name + "]" }

func restartable(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// containerNamed finds a container by its name.
func containerNamed(spec *corev1.PodSpec, name string) (container, bool) {
	for i := range spec.Containers {
		if spec.Containers[i].Name == name {
			return container{&spec.Containers[i], mainList, i}, true
		}
	}
	for i := range spec.InitContainers {
		if spec.InitContainers[i].Name == name {
			return container{&spec.InitContainers[i], initList, i}, true
		}
	}
	for i := range spec.EphemeralContainers {
		if spec.EphemeralContainers[i].Name == name {
			c := corev1.Container(spec.EphemeralContainers[i].EphemeralContainerCommon)
			return container{&c, ephemeralList, i}, true
		}
	}
	return container{}, false
}

// pick finds a container of the object's template, or says what is there.
func (o *object) pick(name string) (container, finding) {
	if o.template == nil {
		return container{}, fail(Msg("object.noPods", "object", o.String())).settle()
	}
	spec := &o.template.Spec
	if name == "" && len(spec.Containers) > 0 {
		return container{&spec.Containers[0], mainList, 0}, finding{}
	}
	if c, ok := containerNamed(spec, name); ok {
		return c, finding{}
	}
	return container{}, fail(Msg("container.missing", "container", name, "object", o.String(),
		"found", quoteList(containerNames(spec)))).
		at(o.in("spec.containers")).compared(name, listed(containerNames(spec))).settle()
}

func containerNames(spec *corev1.PodSpec) []string {
	var out []string
	for i := range spec.InitContainers {
		out = append(out, spec.InitContainers[i].Name)
	}
	for i := range spec.Containers {
		out = append(out, spec.Containers[i].Name)
	}
	for i := range spec.EphemeralContainers {
		out = append(out, spec.EphemeralContainers[i].Name)
	}
	return out
}

// status returns a container's status, or nil where the kubelet has reported none.
func status(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, l := range [][]corev1.ContainerStatus{
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range l {
			if l[i].Name == name {
				return &l[i]
			}
		}
	}
	return nil
}

// condition returns a Pod's condition, or nil.
func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func podReady(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// crashes is the number of restarts after which CrashLoopBackOff is judged
// without waiting for the end of the time: fewer may be a slow dependency.
const crashes = 2

// running says why a container is not running: nil where it runs. A container
// that cannot come to run any more gives a settled failure.
func running(pod *corev1.Pod, name string) *finding {
	if f := blocked(pod); f != nil {
		return f
	}
	st := status(pod, name)
	if st != nil && st.State.Running != nil {
		return nil
	}
	// What stands before it in the Pod's life explains more than its own state.
	if c, ok := containerNamed(&pod.Spec, name); ok {
		limit := len(pod.Spec.InitContainers)
		if c.list == initList {
			limit = c.index
		}
		if f := initProgress(pod, limit); f != nil {
			return f
		}
	}
	if st == nil {
		return at(pod, pending(Msg("container.creating", "container", name, "pod", pod.Name)), lastMove(pod))
	}
	return explain(pod, st)
}

// blocked explains a Pod as a whole that runs nothing: unscheduled, deleted or over.
func blocked(pod *corev1.Pod) *finding {
	if pod.DeletionTimestamp != nil {
		return at(pod, pending(Msg("object.terminating", "kind", "Pod", "name", pod.Name)), *pod.DeletionTimestamp)
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
		return at(pod, fail(Msg("pod.failed", "pod", pod.Name, "reason", pod.Status.Reason,
			"message", pod.Status.Message)).settle(), pod.CreationTimestamp)
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return at(pod, pending(Msg("pod.unschedulable", "pod", pod.Name, "message", c.Message)).doc(docDebugPods),
			c.LastTransitionTime)
	}
	return nil
}

// initProgress explains an init container before place limit that holds up the Pod.
func initProgress(pod *corev1.Pod, limit int) *finding {
	for i := range limit {
		c := &pod.Spec.InitContainers[i]
		st := status(pod, c.Name)
		if st == nil {
			return at(pod, pending(Msg("container.creating", "container", c.Name, "pod", pod.Name)), lastMove(pod))
		}
		if restartable(c) {
			if st.Started != nil && *st.Started {
				continue
			}
			if st.State.Running != nil {
				return at(pod, pending(Msg("sidecar.starting", "container", c.Name, "pod", pod.Name)).
					at("spec.initContainers["+c.Name+"].startupProbe"), st.State.Running.StartedAt)
			}
			return explain(pod, st)
		}
		switch {
		case st.State.Terminated != nil && st.State.Terminated.ExitCode == 0:
			continue
		case st.State.Running != nil:
			return at(pod, pending(Msg("init.running", "container", c.Name, "pod", pod.Name)).doc(docInit),
				st.State.Running.StartedAt)
		default:
			return explain(pod, st)
		}
	}
	return nil
}

// explain says why a container that does not run doesn't.
func explain(pod *corev1.Pod, st *corev1.ContainerStatus) *finding {
	if w := st.State.Waiting; w != nil && !outdated(pod, st) {
		last := st.LastTerminationState.Terminated
		switch w.Reason {
		case "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName":
			return at(pod, fail(Msg("container.image", "container", st.Name, "pod", pod.Name,
				"image", st.Image, "reason", w.Reason)).settle().doc(docDebugPods), pod.CreationTimestamp)
		case "ErrImagePull":
			return at(pod, fail(Msg("container.image", "container", st.Name, "pod", pod.Name,
				"image", st.Image, "reason", w.Reason)).doc(docDebugPods), pod.CreationTimestamp)
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return at(pod, fail(Msg("container.config", "container", st.Name, "pod", pod.Name,
				"reason", w.Reason, "message", w.Message)).doc(docDebugPods), pod.CreationTimestamp)
		case "CrashLoopBackOff":
			f := fail(Msg("container.crashLoop", "container", st.Name, "pod", pod.Name,
				"code", exitCode(last), "restarts", strconv.Itoa(int(st.RestartCount)))).
				why(Msg("container.crashLoop.why")).doc(docDebugPods)
			f.settled = st.RestartCount >= crashes
			return at(pod, f, pod.CreationTimestamp)
		}
	}
	if t := st.State.Terminated; t != nil {
		f := fail(Msg("container.ended", "container", st.Name, "pod", pod.Name, "code", exitCode(t)))
		f.settled = finished(pod)
		if !f.settled {
			f.Verdict = Pending
		}
		return at(pod, f, t.FinishedAt)
	}
	return at(pod, pending(Msg("container.creating", "container", st.Name, "pod", pod.Name)), lastMove(pod))
}

// outdated reports whether a container waits for another image than it has by
// now: the kubelet tells of the last pull until it has tried the next one.
func outdated(pod *corev1.Pod, st *corev1.ContainerStatus) bool {
	switch st.State.Waiting.Reason {
	case "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName":
	default:
		return false
	}
	k, ok := containerNamed(&pod.Spec, st.Name)
	return ok && st.State.Waiting.Message != "" && !strings.Contains(st.State.Waiting.Message, k.Image)
}

// lastMove is when a Pod last came further, as far as its status tells. A Pod
// that still starts is waited for from there: on a busy machine each step takes
// its time.
func lastMove(pod *corev1.Pod) metav1.Time {
	last := pod.CreationTimestamp
	later := func(t metav1.Time) {
		if t.After(last.Time) {
			last = t
		}
	}
	for _, l := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range l {
			if r := l[i].State.Running; r != nil {
				later(r.StartedAt)
			}
			if t := l[i].State.Terminated; t != nil {
				later(t.FinishedAt)
			}
		}
	}
	return last
}

func at(pod *corev1.Pod, f finding, since metav1.Time) *finding {
	f = f.of("Pod/" + pod.Name).ranked(Reported).began(since.Time)
	return &f
}

func exitCode(t *corev1.ContainerStateTerminated) string {
	if t == nil {
		return "?"
	}
	return strconv.Itoa(int(t.ExitCode))
}

// startOf is when a container's current or last run began, or nil before its first.
func startOf(st *corev1.ContainerStatus) *metav1.Time {
	switch {
	case st == nil:
		return nil
	case st.State.Running != nil:
		return &st.State.Running.StartedAt
	case ended(st) != nil:
		return &ended(st).StartedAt
	default:
		return nil
	}
}
