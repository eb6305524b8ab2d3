package main

import (
	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/cluster/kind"
)

// internal holds verbs that podproof calls on itself.
func internal() *cobra.Command {
	cmd := &cobra.Command{Use: "internal", Hidden: true}
	cmd.AddCommand(&cobra.Command{
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
