package app

import (
	"context"
	"errors"

	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/internal/study"
)

// explained says an error of the cluster's in study's terms, so that the use
// cases can give it a status without knowing client-go. The cause stays.
func explained(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	for _, class := range []struct{ kube, study error }{
		{kube.ErrUnreachable, study.ErrUnavailable},
		{kube.ErrForbidden, study.ErrForbidden},
		{kube.ErrTimeout, study.ErrTimeout},
		{kube.ErrNotFound, study.ErrMissing},
		{kube.ErrRefused, study.ErrRefused},
		{kube.ErrImmutable, study.ErrRefused},
		{kube.ErrForeign, study.ErrRefused},
	} {
		if errors.Is(err, class.kube) {
			return classified{err, class.study}
		}
	}
	return err
}

// unavailable says that there is no cluster to work on.
func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return classified{err, study.ErrUnavailable}
}

// classified is an error that also is of a class; its text stays its own.
type classified struct{ err, class error }

func (c classified) Error() string   { return c.err.Error() }
func (c classified) Unwrap() []error { return []error{c.class, c.err} }
