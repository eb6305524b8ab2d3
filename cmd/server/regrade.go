package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
)

func (p *program) regrade() *cobra.Command {
	var output, lang string
	cmd := &cobra.Command{
		Use:   "regrade [LAB[/TASK]]",
		Short: "Evaluate stored attempts again from their evidence, and list verdicts that changed",
		Long: "Evaluate stored attempts again from their evidence, without a cluster, and list the\n" +
			"checks whose verdict is another than it was. What is stored stays as it is.\n" +
			"Exit code 0: no verdict changed; 1: one did.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output: %q is none of text, json", output)
			}
			named := labs.Ref{}
			if len(args) == 1 {
				named.Lab, named.Task, _ = strings.Cut(args[0], "/")
			}
			c, _, err := p.config(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			texts, err := text.New()
			if err != nil {
				return err
			}
			all, err := app.Regrade(cmd.Context(), c, named)
			if err != nil {
				return err
			}
			if output == "json" {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				err = e.Encode(all)
			} else {
				err = writeRegraded(cmd.OutOrStdout(), all, func(m grader.Message) string { return texts.Message(labs.Lang(lang), m) })
			}
			if err != nil {
				return fmt.Errorf("write: %w", err)
			}
			for _, r := range all {
				if len(r.Changed) > 0 {
					return exitCode(1)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	langFlag(cmd, &lang)
	return cmd
}

func writeRegraded(out io.Writer, all []study.Regraded, say func(grader.Message) string) error {
	var b strings.Builder
	changed, skipped := 0, 0
	for _, r := range all {
		if r.Skipped != "" {
			skipped++
			fmt.Fprintf(&b, "%s  attempt %d  skipped: %s\n", r.Task, r.Attempt, r.Skipped)
		}
		for _, v := range r.Changed {
			changed++
			fmt.Fprintf(&b, "%s  attempt %d  %s: %s -> %s  %s\n", r.Task, r.Attempt, v.Check, orNone(v.Was), orNone(v.Is), say(v.Reason))
		}
	}
	fmt.Fprintf(&b, "%d attempts, %d skipped, %d verdicts changed\n", len(all), skipped, changed)
	_, err := io.WriteString(out, b.String())
	return err
}

func orNone(v grader.Verdict) string {
	if v == "" {
		return "no such check"
	}
	return string(v)
}
