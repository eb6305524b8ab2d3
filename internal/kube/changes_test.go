package kube

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podproof/podproof/grader"
)

func at(second int) metav1.Time {
	return metav1.NewTime(time.Date(2030, 1, 1, 0, 0, second, 0, time.UTC))
}

func running(from int) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(from)}}
}

func terminated(from, until int, code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		StartedAt: at(from), FinishedAt: at(until), ExitCode: code, Reason: "Error",
	}}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func podWith(phase corev1.PodPhase, containers ...corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "u1"},
		Status:     corev1.PodStatus{Phase: phase, ContainerStatuses: containers},
	}
}

// short is the part of a change that these tests compare.
type short struct {
	Container, State, Reason string
	Code                     int32
	Restarts                 int32
	At                       int
}

func shorten(changes []grader.Change) []short {
	var out []short
	for _, c := range changes {
		s := short{Container: c.Container, State: c.State, Reason: c.Reason, Code: -1, Restarts: c.Restarts, At: -1}
		if c.ExitCode != nil {
			s.Code = *c.ExitCode
		}
		if c.At != nil {
			s.At = c.At.Second()
		}
		out = append(out, s)
	}
	return out
}

func TestEachChangeOfAContainerIsToldOnce(t *testing.T) {
	status := func(s corev1.ContainerState, last corev1.ContainerState, restarts int32, ready bool) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "app", State: s, LastTerminationState: last, RestartCount: restarts, Ready: ready}
	}
	none := corev1.ContainerState{}
	tests := map[string]struct {
		old, now corev1.ContainerStatus
		want     []short
	}{
		"nothing new": {
			status(running(1), none, 0, true), status(running(1), none, 0, true), nil,
		},
		"a wait for another reason": {
			status(waiting("ContainerCreating"), none, 0, false), status(waiting("ErrImagePull"), none, 0, false),
			[]short{{"app", "waiting", "ErrImagePull", -1, 0, -1}},
		},
		"it starts and becomes ready at once": {
			status(waiting("ContainerCreating"), none, 0, false), status(running(2), none, 0, true),
			[]short{{"app", "running", "", -1, 0, 2}, {"app", "ready", "", -1, 0, -1}},
		},
		"it ends": {
			status(running(2), none, 0, true), status(terminated(2, 5, 3), none, 0, false),
			[]short{{"app", "terminated", "Error", 3, 0, 5}, {"app", "unready", "", -1, 0, -1}},
		},
		"it ran and ended between two sights": {
			status(waiting("ContainerCreating"), none, 0, false), status(terminated(2, 2, 0), none, 0, false),
			[]short{{"app", "running", "", -1, 0, 2}, {"app", "terminated", "Error", 0, 0, 2}},
		},
		"it ended and waits to be restarted": {
			status(running(2), none, 0, false), status(waiting("CrashLoopBackOff"), terminated(2, 5, 1), 1, false),
			[]short{{"app", "terminated", "Error", 1, 0, 5}, {"app", "waiting", "CrashLoopBackOff", -1, 1, -1}},
		},
		"its end was told before the restart": {
			status(terminated(2, 5, 1), none, 0, false), status(running(6), terminated(2, 5, 1), 1, false),
			[]short{{"app", "running", "", -1, 1, 6}},
		},
		"a whole run was missed": {
			status(running(2), terminated(0, 1, 1), 1, false), status(running(9), terminated(5, 7, 4), 3, false),
			[]short{{"app", "running", "", -1, 2, 5}, {"app", "terminated", "Error", 4, 2, 7}, {"app", "running", "", -1, 3, 9}},
		},
		"a last end that is known already": {
			status(waiting("CrashLoopBackOff"), terminated(2, 5, 1), 1, false), status(running(20), terminated(2, 5, 1), 1, false),
			[]short{{"app", "running", "", -1, 1, 20}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := podChanges(podWith("Running", test.old), podWith("Running", test.now), at(30).Time)
			if d := cmp.Diff(test.want, shorten(got), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
		})
	}
}

func TestTheFirstSightOfAPodTellsItsWholeState(t *testing.T) {
	pod := podWith("Running",
		corev1.ContainerStatus{Name: "app", State: running(3), Ready: true},
		corev1.ContainerStatus{Name: "log", State: waiting("CrashLoopBackOff"), LastTerminationState: terminated(1, 2, 9), RestartCount: 1},
	)
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "count", Controller: new(true)}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: at(3)}}
	got := podChanges(nil, pod, at(30).Time)
	want := []short{
		{"", "Running", "", -1, 0, -1},
		{"app", "running", "", -1, 0, 3},
		{"app", "ready", "", -1, 0, -1},
		{"log", "running", "", -1, 0, 1},
		{"log", "terminated", "Error", 9, 0, 2},
		{"log", "waiting", "CrashLoopBackOff", -1, 1, -1},
		{"", "Initialized", "", -1, 0, 3},
	}
	if d := cmp.Diff(want, shorten(got)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	for _, c := range got {
		if c.Object != "Pod/web" || c.UID != "u1" || c.Owner != "Job/count" || !c.Seen.Equal(at(30).Time) {
			t.Errorf("change %+v does not say whose it is", c)
		}
	}
}

func TestDeletionIsToldAtTheTimeItWasAskedFor(t *testing.T) {
	now := podWith("Running")
	deadline := at(40)
	now.DeletionTimestamp, now.DeletionGracePeriodSeconds = &deadline, new(int64(30))
	got := shorten(podChanges(podWith("Running"), now, at(10).Time))
	if d := cmp.Diff([]short{{"", "deleting", "", -1, 0, 10}}, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

func TestAConditionIsToldWhenItTurns(t *testing.T) {
	ready := func(s corev1.ConditionStatus) *corev1.Pod {
		p := podWith("Running")
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: s, Reason: "ContainersNotReady"}}
		return p
	}
	got := shorten(podChanges(ready(corev1.ConditionTrue), ready(corev1.ConditionFalse), time.Time{}))
	if d := cmp.Diff([]short{{"", "NotReady", "ContainersNotReady", -1, 0, -1}}, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	if got := podChanges(ready(corev1.ConditionFalse), ready(corev1.ConditionFalse), time.Time{}); len(got) != 0 {
		t.Errorf("a condition that stays false is told as %+v", got)
	}
}

func TestAJobsConditionsAreTold(t *testing.T) {
	old := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "count", UID: "j"}}
	now := old.DeepCopy()
	now.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", LastTransitionTime: at(4)},
	}
	want := []short{{"", "Failed", "BackoffLimitExceeded", -1, 0, 4}}
	if d := cmp.Diff(want, shorten(jobChanges(old, now, at(5).Time))); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

func TestAnEventNamesItsContainer(t *testing.T) {
	e := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web", UID: "u1", FieldPath: "spec.initContainers{wait}"},
		Reason:         "Started", LastTimestamp: at(7),
	}
	c, ok := eventChange(e, at(8).Time)
	if !ok || c.Object != "Pod/web" || c.Container != "wait" || c.State != "event" || c.Reason != "Started" || c.At.Second() != 7 {
		t.Errorf("eventChange = %+v, %v", c, ok)
	}
	e.InvolvedObject.Kind = "Node"
	if c, ok := eventChange(e, at(8).Time); ok {
		t.Errorf("an event about a Node is kept as %+v", c)
	}
}
