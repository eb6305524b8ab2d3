package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/app"
)

func (p *program) serve() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the pages, and bring a cluster up for them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runServe(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}

func (p *program) runServe(ctx context.Context, out, errOut io.Writer) (err error) {
	c, log, err := p.config(errOut)
	if err != nil {
		return err
	}
	// The address comes first: with another podproof on it, nothing else of
	// this one should start.
	l, err := app.Listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	a, err := app.New(ctx, c, log, logProgress(ctx, log))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, a.Close(ctx)) }()
	if _, err := fmt.Fprintf(out, "podproof is at http://%s\n", l.Addr()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return a.Serve(ctx, l)
}
