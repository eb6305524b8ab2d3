package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/app"
)

func (p *program) down() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Delete the cluster; progress stays",
		Long: "Delete the cluster that podproof made and all that it left on the machine.\n" +
			"From an existing cluster only what podproof made there is removed. Progress stays.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, log, err := p.config(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := app.Down(cmd.Context(), c, log, printProgress(cmd.ErrOrStderr())); err != nil {
				return err
			}
			if err := os.Remove(app.Kubeconfig(c)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove the learner's kubeconfig: %w", err)
			}
			return nil
		},
	}
}
