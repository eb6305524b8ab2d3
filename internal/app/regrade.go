package app

import (
	"context"
	"errors"

	"github.com/podproof/podproof/internal/config"
	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// Regrade evaluates stored attempts again, without a cluster: those of all
// tasks, or of a lab or task that is named. It changes nothing that is stored.
func Regrade(ctx context.Context, c config.Config, named labs.Ref) (all []study.Regraded, err error) {
	catalog, err := Catalog(c.Labs)
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, Database(c))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return study.Regrade(ctx, catalog, store, study.Local, func(ref labs.Ref) bool {
		return (named.Lab == "" || named.Lab == ref.Lab) && (named.Task == "" || named.Task == ref.Task)
	})
}
