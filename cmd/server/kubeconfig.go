package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/app"
)

func (p *program) kubeconfig() *cobra.Command {
	return &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path of the learner's kubeconfig",
		Example: `  export KUBECONFIG="$(podproof kubeconfig)"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := p.config(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			path := app.Kubeconfig(c)
			if _, err := os.Stat(path); err != nil {
				return fmt.Errorf("there is no kubeconfig yet (%w); `podproof serve` writes it when the cluster is ready", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
}
