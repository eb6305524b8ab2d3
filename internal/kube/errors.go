package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// The classes of failure. Every error of this package that comes from the
// cluster wraps exactly one of them, or none where it fits no class.
var (
	// ErrUnreachable: no API server answers, or it is shutting down.
	ErrUnreachable = errors.New("the cluster cannot be reached")
	// ErrForbidden: this identity may not do it, or is not known.
	ErrForbidden = errors.New("the cluster forbids it")
	// ErrTimeout: it took longer than its context or the API server allowed.
	ErrTimeout = errors.New("the cluster took too long")
	// ErrNotFound: the object, or its namespace, does not exist.
	ErrNotFound = errors.New("no such object")
	// ErrRefused: the API server turned the object away: a field is unknown,
	// a value not allowed.
	ErrRefused = errors.New("the API server refuses the object")
	// ErrImmutable: the object exists and the change is one that the API
	// allows only by deleting and creating it again.
	ErrImmutable = errors.New("the change needs the object to be deleted first")
	// ErrForeign: something of this name exists that podproof did not make.
	ErrForeign = errors.New("it exists already and podproof did not make it")
)

// classify wraps err with the operation and its class.
func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", op, err)
	}
	if class := classOf(err); class != nil && !errors.Is(err, class) {
		return fmt.Errorf("%s: %w: %w", op, class, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

func classOf(err error) error {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return ErrForbidden
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err):
		return ErrTimeout
	case apierrors.IsNotFound(err):
		return ErrNotFound
	case apierrors.IsInvalid(err) && immutable(err.Error()):
		return ErrImmutable
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), meta.IsNoMatchError(err),
		strings.Contains(err.Error(), "failed to create typed patch object"): // a status 500 for a field that the schema lacks
		return ErrRefused
	case apierrors.IsServiceUnavailable(err), utilnet.IsConnectionRefused(err), utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err):
		return ErrUnreachable
	}
	var opErr *net.OpError
	var dnsErr *net.DNSError
	if errors.As(err, &opErr) || errors.As(err, &dnsErr) {
		return ErrUnreachable
	}
	return nil
}

// immutable knows the API server's ways of saying that a field of an
// existing object cannot change.
func immutable(message string) bool {
	for _, s := range []string{"field is immutable", "may not change fields", "may not add or remove containers", "updates to ", "may not be modified"} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}
