package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/cluster"
)

// measureEmbedded starts a cluster of its own with nothing but components and
// images cached, and stops it.
func measureEmbedded(ctx context.Context, e *env) (figures map[string]float64, err error) {
	if e.choice != "embedded" {
		return nil, nil // this machine uses another kind of cluster
	}
	dir, err := os.MkdirTemp("", "podproof-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := e.config
	c.Data, c.ClusterName = dir, "podproof-bench"
	p, err := app.Provider(ctx, c, e.log)
	if err != nil {
		return nil, err
	}
	quiet := func(cluster.Event) {}
	defer func() { err = errors.Join(err, p.Delete(context.WithoutCancel(ctx), quiet)) }()

	began := time.Now()
	if err := p.Ensure(ctx, quiet); err != nil {
		return nil, fmt.Errorf("start an embedded cluster: %w", err)
	}
	figures = map[string]float64{"embedded.start": time.Since(began).Seconds()}
	began = time.Now()
	if err := p.Close(ctx); err != nil {
		return nil, fmt.Errorf("stop the embedded cluster: %w", err)
	}
	figures["embedded.stop"] = time.Since(began).Seconds()
	return figures, nil
}
