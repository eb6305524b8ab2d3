package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/labs"
)

func schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of task.yaml, for editors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", labs.Schema())
			return err
		},
	}
}
