package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/cluster/kind"
)

// internal holds verbs that podproof calls on itself.
func (p *program) internal() *cobra.Command {
	cmd := &cobra.Command{Use: "internal", Hidden: true}
	cmd.AddCommand(&cobra.Command{
		Use:   "cluster",
		Short: "Print where the cluster would come from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := p.config(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			name, err := app.Choose(cmd.Context(), c)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), name)
			return err
		},
	}, &cobra.Command{
		Use:  "kind-create",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := kind.RunHelper(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	})
	return cmd
}
