package kube

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podproof/podproof/grader"
)

// The states of a Change that are not the API's own words.
const (
	stateWaiting    = "waiting"
	stateRunning    = "running"
	stateTerminated = "terminated"
	stateReady      = "ready"
	stateUnready    = "unready"
	stateDeleting   = "deleting"
	stateDeleted    = "deleted"
	stateEvent      = "event"
)

// podChanges tells what happened to a Pod between two sights of it; old is nil
// at the first. A run that began and ended in between is told too, since the
// API keeps the last one that ended.
func podChanges(old, now *corev1.Pod, seen time.Time) []grader.Change {
	if old == nil {
		old = &corev1.Pod{}
	}
	base := objectChange("Pod", &now.ObjectMeta, seen)
	var out []grader.Change
	if now.Status.Phase != "" && now.Status.Phase != old.Status.Phase {
		c := base
		c.State, c.Reason = string(now.Status.Phase), now.Status.Reason
		out = append(out, c)
	}
	if now.DeletionTimestamp != nil && old.DeletionTimestamp == nil {
		c := base
		c.State, c.At = stateDeleting, deletionAsked(now)
		out = append(out, c)
	}
	for _, list := range [][2][]corev1.ContainerStatus{
		{old.Status.InitContainerStatuses, now.Status.InitContainerStatuses},
		{old.Status.ContainerStatuses, now.Status.ContainerStatuses},
		{old.Status.EphemeralContainerStatuses, now.Status.EphemeralContainerStatuses},
	} {
		for i := range list[1] {
			before := statusOf(list[0], list[1][i].Name)
			out = append(out, containerChanges(before, &list[1][i], base)...)
		}
	}
	for _, condition := range now.Status.Conditions {
		switch condition.Type {
		case corev1.PodReady, corev1.PodInitialized, corev1.PodScheduled, corev1.DisruptionTarget:
			was := false
			for _, o := range old.Status.Conditions {
				was = was || o.Type == condition.Type && o.Status == corev1.ConditionTrue
			}
			is := condition.Status == corev1.ConditionTrue
			out = append(out, conditionChange(base, string(condition.Type), was, is, condition.Reason, condition.LastTransitionTime)...)
		}
	}
	return out
}

// deletionAsked is the time of the request: the API stores its end.
func deletionAsked(pod *corev1.Pod) *time.Time {
	at := pod.DeletionTimestamp.Time
	if pod.DeletionGracePeriodSeconds != nil {
		at = at.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	}
	return &at
}

func statusOf(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return &corev1.ContainerStatus{}
}

func containerChanges(old, now *corev1.ContainerStatus, base grader.Change) []grader.Change {
	base.Container, base.Restarts = now.Name, now.RestartCount
	var out []grader.Change
	emit := func(state, reason string, code *int32, at metav1.Time) {
		c := base
		c.State, c.Reason, c.ExitCode = state, reason, code
		if !at.IsZero() {
			t := at.Time
			c.At = &t
		}
		out = append(out, c)
	}
	ended := func(t *corev1.ContainerStateTerminated) {
		code := t.ExitCode
		emit(stateTerminated, t.Reason, &code, t.FinishedAt)
	}
	// A run that is now only the last one that ended.
	if last := now.LastTerminationState.Terminated; last != nil && !sameEnd(last, old.LastTerminationState.Terminated) && !sameEnd(last, old.State.Terminated) {
		restarts := base.Restarts
		base.Restarts = max(0, restarts-1)
		if old.State.Running == nil || !old.State.Running.StartedAt.Equal(&last.StartedAt) {
			emit(stateRunning, "", nil, last.StartedAt)
		}
		ended(last)
		base.Restarts = restarts
	}
	switch s := now.State; {
	case s.Waiting != nil:
		if old.State.Waiting == nil || old.State.Waiting.Reason != s.Waiting.Reason {
			emit(stateWaiting, s.Waiting.Reason, nil, metav1.Time{})
		}
	case s.Running != nil:
		if old.State.Running == nil || !old.State.Running.StartedAt.Equal(&s.Running.StartedAt) || now.RestartCount != old.RestartCount {
			emit(stateRunning, "", nil, s.Running.StartedAt)
		}
	case s.Terminated != nil:
		if !sameEnd(s.Terminated, old.State.Terminated) {
			started := old.State.Running != nil && old.State.Running.StartedAt.Equal(&s.Terminated.StartedAt)
			if !started && !s.Terminated.StartedAt.IsZero() {
				emit(stateRunning, "", nil, s.Terminated.StartedAt)
			}
			ended(s.Terminated)
		}
	}
	if now.Ready != old.Ready {
		state := stateReady
		if !now.Ready {
			state = stateUnready
		}
		emit(state, "", nil, metav1.Time{})
	}
	return out
}

// sameEnd tells whether two reports are of the same run's end.
func sameEnd(a, b *corev1.ContainerStateTerminated) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ContainerID == b.ContainerID && a.StartedAt.Equal(&b.StartedAt) &&
		a.FinishedAt.Equal(&b.FinishedAt) && a.ExitCode == b.ExitCode
}

// jobChanges is podChanges for a Job: its conditions and its deletion.
func jobChanges(old, now *batchv1.Job, seen time.Time) []grader.Change {
	first := old == nil
	if first {
		old = &batchv1.Job{}
	}
	base := objectChange("Job", &now.ObjectMeta, seen)
	var out []grader.Change
	if first {
		c := base
		created := now.CreationTimestamp.Time
		c.State, c.At = "created", &created
		out = append(out, c)
	}
	if now.DeletionTimestamp != nil && old.DeletionTimestamp == nil {
		c := base
		at := now.DeletionTimestamp.Time
		c.State, c.At = stateDeleting, &at
		out = append(out, c)
	}
	for _, condition := range now.Status.Conditions {
		was := false
		for _, o := range old.Status.Conditions {
			was = was || o.Type == condition.Type && o.Status == corev1.ConditionTrue
		}
		is := condition.Status == corev1.ConditionTrue
		out = append(out, conditionChange(base, string(condition.Type), was, is, condition.Reason, condition.LastTransitionTime)...)
	}
	return out
}

// conditionChange is a condition's turn: to True it is told by its type, from
// True by "Not" before it.
func conditionChange(base grader.Change, condition string, was, is bool, reason string, at metav1.Time) []grader.Change {
	if was == is {
		return nil
	}
	base.State, base.Reason = condition, reason
	if !is {
		base.State = "Not" + condition
	}
	if !at.IsZero() {
		t := at.Time
		base.At = &t
	}
	return []grader.Change{base}
}

// deletedChange is the end of an object.
func deletedChange(kind string, o metav1.Object, seen time.Time) grader.Change {
	c := objectChange(kind, o, seen)
	c.State = stateDeleted
	return c
}

// eventChange tells an event about a Pod, its containers or a Job. Events are
// kept because the API drops them after an hour.
func eventChange(e *corev1.Event, seen time.Time) (grader.Change, bool) {
	if e.InvolvedObject.Kind != "Pod" && e.InvolvedObject.Kind != "Job" {
		return grader.Change{}, false
	}
	c := grader.Change{
		Seen:   seen,
		Object: e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name,
		UID:    string(e.InvolvedObject.UID),
		State:  stateEvent,
		Reason: e.Reason,
	}
	// "spec.initContainers{wait}"
	if _, rest, ok := strings.Cut(e.InvolvedObject.FieldPath, "{"); ok {
		c.Container = strings.TrimSuffix(rest, "}")
	}
	at := e.LastTimestamp.Time
	if at.IsZero() {
		at = e.EventTime.Time
	}
	if !at.IsZero() {
		c.At = &at
	}
	return c, true
}

func objectChange(kind string, o metav1.Object, seen time.Time) grader.Change {
	c := grader.Change{Seen: seen, Object: kind + "/" + o.GetName(), UID: string(o.GetUID())}
	if owner := metav1.GetControllerOf(o); owner != nil {
		c.Owner = owner.Kind + "/" + owner.Name
	}
	return c
}
