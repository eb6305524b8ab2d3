package study

import (
	"context"
	"errors"
	"fmt"

	"github.com/podproof/podproof/grader"
)

// Code says what kind of thing went wrong.
type Code string

// The codes.
const (
	CodeNotFound           Code = "notFound"
	CodeNotStarted         Code = "notStarted"
	CodeBusy               Code = "busy"
	CodeClusterUnavailable Code = "clusterUnavailable"
	CodeClusterForbidden   Code = "clusterForbidden"
	CodeClusterTimeout     Code = "clusterTimeout"
	CodeClusterMissing     Code = "clusterMissing"
	CodeClusterRefused     Code = "clusterRefused"
	CodeStore              Code = "store"
	CodeCanceled           Code = "canceled"
	CodeInternal           Code = "internal"
)

// Error is a failure that people can be told about.
type Error struct {
	Code    Code
	Message grader.Message
	Err     error // the cause, for the log; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Code, e.Message.Args)
}

func (e *Error) Unwrap() error { return e.Err }

// What a Workspace's errors wrap, so that they can be explained. One that
// wraps none of them is told as ErrUnavailable is.
var (
	// ErrUnavailable: there is no cluster to work on, or it does not answer.
	ErrUnavailable = errors.New("the cluster is not ready")
	// ErrForbidden: the cluster does not let podproof do it.
	ErrForbidden = errors.New("the cluster forbids it")
	// ErrTimeout: the cluster answers, but not in time.
	ErrTimeout = errors.New("the cluster took too long")
	// ErrMissing: something that podproof prepared in the cluster is gone.
	ErrMissing = errors.New("the cluster lacks what podproof prepared")
	// ErrRefused: the cluster does not take the task's own objects.
	ErrRefused = errors.New("the cluster refuses the task's objects")
)

// Problem is how an error is shown: a message for people, a status for HTTP
// and an exit code for a shell.
type Problem struct {
	Code    Code
	Message grader.Message
	HTTP    int
	Exit    int
}

// Explain turns any error into what people are told. It is the only place
// where errors are given a status.
func Explain(err error) Problem {
	p := Problem{Code: CodeInternal, Message: grader.Msg("study.internal")}
	var e *Error
	code, ofCluster := clusterCode(err)
	switch {
	case errors.As(err, &e):
		p.Code, p.Message = e.Code, e.Message
	case ofCluster:
		p.Code, p.Message = code, clusterMessage(code, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p.Code, p.Message = CodeCanceled, grader.Msg("study.canceled")
	}
	status := statuses()[p.Code]
	p.HTTP, p.Exit = status.http, status.exit
	return p
}

type status struct{ http, exit int }

// statuses gives each code its HTTP status and its exit code. Exit code 1 is
// left for an answer that is not right, 3 for one that could not be judged, 5
// for a cluster that cannot be used.
func statuses() map[Code]status {
	return map[Code]status{
		CodeNotFound:           {404, 2},
		CodeNotStarted:         {409, 2},
		CodeBusy:               {409, 3},
		CodeClusterUnavailable: {503, 5},
		CodeClusterForbidden:   {502, 5},
		CodeClusterTimeout:     {504, 5},
		CodeClusterMissing:     {502, 5},
		CodeClusterRefused:     {502, 5},
		CodeStore:              {500, 4},
		CodeCanceled:           {503, 3},
		CodeInternal:           {500, 4},
	}
}

func storeError(op string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", op, err)
	}
	return &Error{
		Code:    CodeStore,
		Message: grader.Msg("study.store", "detail", err.Error()),
		Err:     fmt.Errorf("%s: %w", op, err),
	}
}

// clusterError explains a Workspace's error, of whatever kind.
func clusterError(op string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", op, err)
	}
	code, ok := clusterCode(err)
	if !ok {
		code = CodeClusterUnavailable
	}
	return &Error{Code: code, Message: clusterMessage(code, err), Err: fmt.Errorf("%s: %w", op, err)}
}

func clusterCode(err error) (Code, bool) {
	for _, class := range []struct {
		err  error
		code Code
	}{
		{ErrUnavailable, CodeClusterUnavailable},
		{ErrForbidden, CodeClusterForbidden},
		{ErrTimeout, CodeClusterTimeout},
		{ErrMissing, CodeClusterMissing},
		{ErrRefused, CodeClusterRefused},
	} {
		if errors.Is(err, class.err) {
			return class.code, true
		}
	}
	return "", false
}

func clusterMessage(code Code, err error) grader.Message {
	return grader.Msg("study."+string(code), "detail", err.Error())
}
