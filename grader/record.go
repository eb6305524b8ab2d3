package grader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// probeLimit bounds one probe; a command that hangs is cut off there.
const probeLimit = 10 * time.Second

// maxLog is how much of a log's tail is read, in bytes.
const maxLog = 256 << 10

// maxKept is how much of a probe's answer is kept as evidence, in bytes.
const maxKept = 64 << 10

// recorder passes calls on and keeps the last answer to each as evidence.
type recorder struct {
	Cluster
	mu     sync.Mutex
	probes map[string]string
}

func newRecorder(c Cluster) *recorder {
	return &recorder{Cluster: c, probes: map[string]string{}}
}

func (r *recorder) keep(key string, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		return // strings and numbers always marshal
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes[key] = string(text)
}

func (r *recorder) evidence(s *Snapshot, nonce string) *Evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &Evidence{Snapshot: s, Nonce: nonce}
	if len(r.probes) > 0 {
		e.Probes = r.probes
	}
	return e
}

// Keys of probes in evidence: the call and its arguments.
func logsKey(pod PodRef, container string, previous bool) string {
	return strings.Join([]string{"logs", pod.Name, container, strconv.FormatBool(previous)}, " ")
}

func execKey(pod PodRef, container string, command []string) string {
	return fmt.Sprintf("exec %s %s %q", pod.Name, container, command)
}

func getKey(pod PodRef, container, url string) string {
	return strings.Join([]string{"get", pod.Name, container, url}, " ")
}

func elsewhereKey(kind Kind, name string) string { return "elsewhere " + string(kind) + " " + name }

func (r *recorder) Elsewhere(ctx context.Context, namespace string, kind Kind, name string) ([]string, error) {
	found, err := r.Cluster.Elsewhere(ctx, namespace, kind, name)
	if err == nil && len(found) > 0 {
		found = slices.Sorted(slices.Values(found))
		r.keep(elsewhereKey(kind, name), found)
	}
	return found, err
}

func (r *recorder) Logs(ctx context.Context, pod PodRef, container string, previous bool, most int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	text, err := r.Cluster.Logs(ctx, pod, container, previous, most)
	if err == nil {
		r.keep(logsKey(pod, container, previous), tail(text))
	}
	return text, err
}

func (r *recorder) Exec(ctx context.Context, pod PodRef, container string, command []string) (ExecResult, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	got, err := r.Cluster.Exec(ctx, pod, container, command)
	if err == nil {
		r.keep(execKey(pod, container, command), ExecResult{got.Code, tail(got.Stdout), tail(got.Stderr)})
	}
	return got, err
}

func (r *recorder) Get(ctx context.Context, pod PodRef, container, url string) (GetResult, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	got, err := r.Cluster.Get(ctx, pod, container, url)
	if err == nil {
		r.keep(getKey(pod, container, url), GetResult{got.Status, tail(got.Body), got.Failed})
	}
	return got, err
}

// trial runs a step's experiment and keeps what it came to; on a record it
// returns what it came to then.
func (r *recorder) trial(ctx context.Context, s *scene, st *step) (finding, error) {
	key := "trial " + s.check.spec.ID + " " + st.name
	if past, ok := r.Cluster.(*replay); ok {
		var f finding
		err := past.recall(key, &f)
		return f, err
	}
	f, err := st.act(ctx, s)
	if err == nil {
		r.keep(key, f)
	}
	return f, err
}

// tail keeps of a text what evidence has room for.
func tail(s string) string {
	if len(s) <= maxKept {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxKept:], "")
}

// errNotRecorded: stored evidence does not hold what a check asks for now.
var errNotRecorded = errors.New("the stored evidence does not hold this")

// Replay is a Cluster that answers from stored evidence, so that an attempt
// can be graded again offline. What was not asked then gives an error, and so
// the verdict Error.
func Replay(e *Evidence) Cluster { return &replay{evidence: e} }

type replay struct{ evidence *Evidence }

func (r *replay) recall(key string, into any) error {
	text, ok := r.evidence.Probes[key]
	if !ok {
		return fmt.Errorf("%w: %s", errNotRecorded, key)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("read stored evidence %q: %w", key, err)
	}
	return nil
}

func (r *replay) Snapshot(context.Context, string, []Kind) (*Snapshot, error) {
	if r.evidence.Snapshot == nil {
		return nil, fmt.Errorf("%w: snapshot", errNotRecorded)
	}
	return r.evidence.Snapshot, nil
}

func (r *replay) Elsewhere(_ context.Context, _ string, kind Kind, name string) ([]string, error) {
	var found []string
	if err := r.recall(elsewhereKey(kind, name), &found); err != nil && !errors.Is(err, errNotRecorded) {
		return nil, err
	}
	return found, nil
}

func (r *replay) Logs(_ context.Context, pod PodRef, container string, previous bool, _ int) (string, error) {
	var text string
	err := r.recall(logsKey(pod, container, previous), &text)
	return text, err
}

func (r *replay) Exec(_ context.Context, pod PodRef, container string, command []string) (ExecResult, error) {
	var got ExecResult
	err := r.recall(execKey(pod, container, command), &got)
	return got, err
}

func (r *replay) Get(_ context.Context, pod PodRef, container, url string) (GetResult, error) {
	var got GetResult
	err := r.recall(getKey(pod, container, url), &got)
	return got, err
}

func (r *replay) Scratch(context.Context) (Scratch, error) {
	return nil, fmt.Errorf("%w: a trial", errNotRecorded)
}
