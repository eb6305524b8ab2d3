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

// ErrUnavailable is wrapped by a Workspace's errors while there is no cluster
// to work on.
var ErrUnavailable = errors.New("the cluster is not ready")

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
	switch {
	case errors.As(err, &e):
		p.Code, p.Message = e.Code, e.Message
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p.Code, p.Message = CodeCanceled, grader.Msg("study.canceled")
	case errors.Is(err, ErrUnavailable):
		p.Code, p.Message = CodeClusterUnavailable, grader.Msg("study.clusterUnavailable", "detail", err.Error())
	}
	status := statuses()[p.Code]
	p.HTTP, p.Exit = status.http, status.exit
	return p
}

type status struct{ http, exit int }

// statuses gives each code its HTTP status and its exit code. Exit code 1 is
// left for an answer that is not right, 3 for one that could not be judged.
func statuses() map[Code]status {
	return map[Code]status{
		CodeNotFound:           {404, 2},
		CodeNotStarted:         {409, 2},
		CodeBusy:               {409, 3},
		CodeClusterUnavailable: {503, 3},
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

func clusterError(op string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", op, err)
	}
	return &Error{
		Code:    CodeClusterUnavailable,
		Message: grader.Msg("study.clusterUnavailable", "detail", err.Error()),
		Err:     fmt.Errorf("%s: %w", op, err),
	}
}
