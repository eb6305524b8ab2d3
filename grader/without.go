package grader

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What still works in a copy that lacks a helper is not the helper's doing.
const (
	// loneStart is how long such a copy may take to start.
	loneStart = 30 * time.Second
	// loneTime is how long an app is left to itself there before its log is read.
	loneTime = 6 * time.Second
)

// without is a copy of a Pod that lacks one container, under a name of its own.
func without(pod *corev1.Pod, name string) *corev1.Pod {
	c := copyPod(pod)
	c.Name = pod.Name + "-without"
	c.Labels = nil // no copy of a Service may take it for a backend
	lacking := func(k corev1.Container) bool { return k.Name == name }
	c.Spec.InitContainers = slices.DeleteFunc(c.Spec.InitContainers, lacking)
	c.Spec.Containers = slices.DeleteFunc(c.Spec.Containers, lacking)
	return c
}

// createWithout creates the copy that lacks one container; nil where none is left.
func (b *bench) createWithout(ctx context.Context, pod *corev1.Pod, name string) (*corev1.Pod, error) {
	c := without(pod, name)
	if len(c.Spec.Containers) == 0 {
		return nil, nil
	}
	_, err := b.scratch.CreatePod(ctx, c)
	return c, err
}

// alone waits until the copy's app has been started for a time, and whatever
// else the scratch namespace holds is ready, so that nothing can be missed. It returns nil where that does
// not come about: such a copy proves nothing.
func (b *bench) alone(ctx context.Context, copied *corev1.Pod, app string, least time.Duration) (*corev1.Pod, error) {
	var since time.Time
	for until := time.Now().Add(loneStart); time.Now().Before(until) || !since.IsZero(); {
		snap, err := b.scratch.Snapshot(ctx, b.scratch.Namespace(), kindsFor(KindPod))
		if err != nil {
			return nil, err
		}
		if pod := lone(snap, copied.Name, app); pod == nil {
			since = time.Time{}
		} else if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) >= least {
			return pod, nil
		}
		if err := sleep(ctx, 2*trialPause); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// lone returns the copy if its app has begun and the other Pods are ready.
func lone(snap *Snapshot, name, app string) *corev1.Pod {
	var found *corev1.Pod
	for i := range snap.Pods {
		pod := &snap.Pods[i]
		switch {
		case pod.Name == name:
			found = pod
		case !podReady(pod):
			return nil
		}
	}
	if found == nil || startOf(status(found, app)) == nil {
		return nil
	}
	return found
}
