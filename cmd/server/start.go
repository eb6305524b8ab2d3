package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

func (p *program) start() *cobra.Command {
	var lang string
	cmd := &cobra.Command{
		Use:   "start LAB/TASK",
		Short: "Set a task up on the cluster and print what it asks",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := parseRef(args[0])
			if err != nil {
				return err
			}
			return p.withCluster(cmd, func(a *app.App) error {
				if err := a.Study.Start(cmd.Context(), study.Local, ref); err != nil {
					return tell(a, lang, err)
				}
				v, err := a.Study.Open(cmd.Context(), study.Local, ref)
				if err != nil {
					return tell(a, lang, err)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s\n", v.Title.In(labs.Lang(lang)), v.Prompt.In(labs.Lang(lang)))
				return err
			})
		},
	}
	langFlag(cmd, &lang)
	return cmd
}

func langFlag(cmd *cobra.Command, lang *string) {
	cmd.Flags().StringVar(lang, "lang", "en", "language of texts: en or ja")
}

func parseRef(s string) (labs.Ref, error) {
	lab, task, ok := strings.Cut(s, "/")
	if !ok || lab == "" || task == "" || strings.Contains(task, "/") {
		return labs.Ref{}, fmt.Errorf("%q does not name a task; write LAB/TASK, as in ckad-multi/native-sidecar", s)
	}
	return labs.Ref{Lab: lab, Task: task}, nil
}
