package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podproof/podproof/grader"
)

func TestErrorsAreClassed(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	invalid := func(detail string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Code: 422, Message: detail}}
	}
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	tests := []struct {
		err  error
		want error
	}{
		{dial, ErrUnreachable},
		{&net.DNSError{Err: "no such host"}, ErrUnreachable},
		{apierrors.NewServiceUnavailable("shutting down"), ErrUnreachable},
		{apierrors.NewForbidden(pods, "web", errors.New("no")), ErrForbidden},
		{apierrors.NewUnauthorized("who"), ErrForbidden},
		{apierrors.NewServerTimeout(pods, "list", 1), ErrTimeout},
		{fmt.Errorf("list: %w", context.DeadlineExceeded), ErrTimeout},
		{apierrors.NewNotFound(pods, "web"), ErrNotFound},
		{invalid("spec.template: Invalid value: field is immutable"), ErrImmutable},
		{invalid("pod updates may not change fields other than ..."), ErrImmutable},
		{invalid("spec.containers[0].livenessProbe: Forbidden"), ErrRefused},
		{apierrors.NewBadRequest("unknown field"), ErrRefused},
	}
	for _, test := range tests {
		got := classify("do it", test.err)
		if !errors.Is(got, test.want) || !errors.Is(got, test.err) || !strings.HasPrefix(got.Error(), "do it: ") {
			t.Errorf("classify(%v) = %v, want it to be %v", test.err, got, test.want)
		}
		if again := classify("more", got); strings.Count(again.Error(), test.want.Error()) != 1 {
			t.Errorf("classified twice, the class is said twice: %v", again)
		}
	}
	if err := classify("do it", context.Canceled); errors.Is(err, ErrTimeout) || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call is classed: %v", err)
	}
	if err := classify("do it", nil); err != nil {
		t.Errorf("classify(nil) = %v", err)
	}
}

func TestTheServersClockIsUsedWhereItDiffers(t *testing.T) {
	server := time.Date(2030, 1, 1, 12, 0, 5, 0, time.UTC)
	tests := map[string]struct{ local, want time.Time }{
		"in the same second, the local one is finer": {server.Add(700 * time.Millisecond), server.Add(700 * time.Millisecond)},
		"local clock ahead":                          {server.Add(time.Minute), server},
		"local clock behind":                         {server.Add(-time.Minute), server},
	}
	for name, test := range tests {
		r := &reading{}
		r.note(server, test.local)
		r.note(server.Add(2*time.Second), test.local.Add(2*time.Second))
		if got := r.now(); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestALogsTailIsBoundAndStartsAtALine(t *testing.T) {
	r := &ring{max: 20}
	for i := range 1000 {
		_, _ = fmt.Fprintf(r, "line %d\n", i)
	}
	if got, want := r.String(), "line 998\nline 999\n"; got != want {
		t.Errorf("tail = %q, want %q", got, want)
	}
	short := &ring{max: 20}
	_, _ = short.Write([]byte("a\nb\n"))
	if got := short.String(); got != "a\nb\n" {
		t.Errorf("tail = %q, want all of it", got)
	}
	long := &ring{max: 5}
	_, _ = long.Write([]byte("abcdefghij"))
	if got := long.String(); got != "fghij" {
		t.Errorf("tail of one long line = %q", got)
	}
}

func TestOutputBeyondTheBoundIsDropped(t *testing.T) {
	h := &head{max: 4}
	for range 3 {
		if n, err := h.Write([]byte("abc")); n != 3 || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if got := h.String(); got != "abca" {
		t.Errorf("output = %q", got)
	}
}

func TestTheAnswerOfAnHTTPProgramIsRead(t *testing.T) {
	tests := map[string]struct {
		out  grader.ExecResult
		want grader.GetResult
	}{
		"curl":             {grader.ExecResult{Stdout: "hello\n\n200"}, grader.GetResult{Status: 200, Body: "hello\n"}},
		"curl, no body":    {grader.ExecResult{Stdout: "\n204"}, grader.GetResult{Status: 204}},
		"curl, refused":    {grader.ExecResult{Code: 7, Stdout: "\n000", Stderr: "curl: (7) Failed to connect"}, grader.GetResult{Failed: "curl: (7) Failed to connect"}},
		"wget":             {grader.ExecResult{Stdout: "hello", Stderr: "Connecting\n  HTTP/1.1 200 OK\n  Server: x"}, grader.GetResult{Status: 200, Body: "hello"}},
		"wget, redirected": {grader.ExecResult{Stdout: "hello", Stderr: "  HTTP/1.1 301 Moved\n  HTTP/1.1 200 OK\n"}, grader.GetResult{Status: 200, Body: "hello"}},
		"wget, 404":        {grader.ExecResult{Code: 1, Stderr: "  HTTP/1.1 404 Not Found\nwget: server returned error: HTTP/1.1 404 Not Found"}, grader.GetResult{Status: 404}},
		"wget, refused":    {grader.ExecResult{Code: 1, Stderr: "wget: can't connect to remote host: Connection refused\n"}, grader.GetResult{Failed: "wget: can't connect to remote host: Connection refused"}},
		"nothing said":     {grader.ExecResult{Code: 4}, grader.GetResult{Failed: "the HTTP client ended with code 4"}},
	}
	for name, test := range tests {
		if got := fetched(test.out); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestAManifestsNumbersStayWholeAndListsAreOpened(t *testing.T) {
	objects, err := parse("---\n# nothing\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {x: 9007199254740993}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}\n")
	if err != nil || len(objects) != 2 || objects[0].GetName() != "a" || objects[1].GetName() != "b" {
		t.Fatalf("parse = %v, %v", objects, err)
	}
	if x := objects[0].Object["spec"].(map[string]any)["x"]; x != int64(9007199254740993) {
		t.Errorf("a large number became %v", x)
	}
	for _, bad := range []string{"kind: Pod", "a: [", "apiVersion: v1\nkind: Pod\nmetadata: {}"} {
		if _, err := parse(bad); !errors.Is(err, ErrRefused) {
			t.Errorf("parse(%q) = %v, want it refused", bad, err)
		}
	}
}

func TestAHistoryKeepsTheNewest(t *testing.T) {
	ctx := context.Background()
	m := NewMemory(3)
	for i := range 20 {
		if err := m.Record(ctx, "a", []grader.Change{{State: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Record(ctx, "b", []grader.Change{{State: "other"}}); err != nil {
		t.Fatal(err)
	}
	changes, _, err := m.History(ctx, "a")
	if err != nil || len(changes) < 3 || len(changes) > 6 || changes[len(changes)-1].State != "19" {
		t.Errorf("history = %v, %v", changes, err)
	}
	m.Forget("a")
	if changes, _, _ := m.History(ctx, "a"); len(changes) != 0 {
		t.Errorf("after Forget: %v", changes)
	}
}

func TestOnlyAbandonedTrialsAreSwept(t *testing.T) {
	now := time.Now()
	mine := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Annotations: ownership()}}
	if abandoned(mine, now) {
		t.Error("a trial of this process is swept")
	}
	if !abandoned(mine, now.Add(time.Hour)) {
		t.Error("a trial whose time is up stays")
	}
	dead := mine.DeepCopy()
	host, _, _ := strings.Cut(dead.Annotations[annotationOwner], "/")
	dead.Annotations[annotationOwner] = host + "/999999999"
	if !abandoned(dead, now) {
		t.Error("a trial of a dead process stays")
	}
	dead.Annotations[annotationOwner] = "elsewhere/999999999"
	if abandoned(dead, now) {
		t.Error("a trial of another machine's process is swept before its time")
	}
	if !abandoned(&corev1.Namespace{}, now) {
		t.Error("a trial without a time stays for ever")
	}
}
