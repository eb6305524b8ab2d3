package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/podproof/podproof/grader"
)

// Watch reports what happens to a Pod of this name, which need not exist yet.
// The channel closes when the Pod is gone or ctx ends. A watch that breaks is
// taken up again; what it missed is told as late as it is seen.
func (s *scratch) Watch(ctx context.Context, pod string) (<-chan grader.Change, error) {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, pod).String()
	open := func() (watch.Interface, error) {
		w, err := s.typed.CoreV1().Pods(s.namespace).Watch(ctx, metav1.ListOptions{FieldSelector: selector})
		return w, classify("watch Pod/"+pod, err)
	}
	w, err := open()
	if err != nil {
		return nil, err
	}
	changes := make(chan grader.Change, 64)
	go func() {
		defer close(changes)
		var last *corev1.Pod
		for {
			gone := follow(ctx, w, &last, changes)
			w.Stop()
			if gone || ctx.Err() != nil {
				return
			}
			for w, err = open(); err != nil; w, err = open() {
				select {
				case <-ctx.Done():
					return
				case <-time.After(200 * time.Millisecond):
				}
			}
			// Its end may be what was missed.
			if last != nil && s.replaced(ctx, last) {
				w.Stop()
				select {
				case changes <- deletedChange("Pod", last, sight()):
				case <-ctx.Done():
				}
				return
			}
		}
	}()
	return changes, nil
}

// replaced tells whether the Pod does not exist any more.
func (s *scratch) replaced(ctx context.Context, pod *corev1.Pod) bool {
	now, err := s.typed.CoreV1().Pods(s.namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && now.UID != pod.UID
}

// follow sends changes until the watch ends; it tells whether the Pod is gone.
func follow(ctx context.Context, w watch.Interface, last **corev1.Pod, changes chan<- grader.Change) bool {
	send := func(list ...grader.Change) bool {
		for _, c := range list {
			select {
			case changes <- c:
			case <-ctx.Done():
				return false
			}
		}
		return true
	}
	for e := range w.ResultChan() {
		seen := sight()
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			return false // an error's status, after which the watch ends
		}
		if !send(podChanges(*last, pod, seen)...) {
			return false
		}
		*last = pod
		if e.Type == watch.Deleted {
			send(deletedChange("Pod", pod, seen))
			return true
		}
	}
	return false
}
