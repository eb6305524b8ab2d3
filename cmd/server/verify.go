package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/internal/verify"
	"github.com/podproof/podproof/labs"
)

func (p *program) verify() *cobra.Command {
	var o verify.Options
	var output string
	cmd := &cobra.Command{
		Use:   "verify [LAB[/TASK]]",
		Short: "Prove tasks on a cluster: right answers score full, wrong ones fail where they should",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output: %q is none of text, json", output)
			}
			c, log, err := p.config(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			catalog, err := app.Catalog(c.Labs)
			if err != nil {
				return err
			}
			texts, err := text.New()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Only = args[0]
			}
			o.Log = log
			o.Message = func(m grader.Message) string { return texts.Message(labs.English, m) }
			o.Progress = caseProgress(cmd.ErrOrStderr())
			var result *verify.Result
			if err := app.WithAdmin(cmd.Context(), c, log, printProgress(cmd.ErrOrStderr()), func(admin *rest.Config) (err error) {
				result, err = verify.Run(cmd.Context(), admin, catalog, o)
				return err
			}); err != nil {
				return err
			}
			write := writeProof
			if output == "json" {
				write = func(out io.Writer, r *verify.Result) error {
					e := json.NewEncoder(out)
					e.SetIndent("", "  ")
					return e.Encode(r)
				}
			}
			if err := write(cmd.OutOrStdout(), result); err != nil {
				return fmt.Errorf("write the result: %w", err)
			}
			if !result.OK() {
				return exitCode(1)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&o.Parallel, "parallel", 0, "cases that run side by side; default by the number of cores")
	cmd.Flags().IntVar(&o.Variants, "variants", 0, "param values that the solution is tried with; default 4")
	cmd.Flags().BoolVar(&o.Mutate, "mutate", false, "also try mutants of the right answers, which must not score full; takes long")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// caseProgress prints a line for each case that ends.
func caseProgress(w io.Writer) func(verify.Event) {
	var mu sync.Mutex
	return func(e verify.Event) {
		if e.Case.Outcome == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(w, "[%d/%d] %-13s %s %s %s (%.1f s)\n", e.Done, e.Total,
			e.Case.Outcome, e.Case.Task, e.Case.Kind, e.Case.File, e.Case.Took.Seconds())
		if e.Case.Problem != "" {
			_, _ = fmt.Fprintf(w, "      %s\n", e.Case.Problem)
		}
	}
}

// writeProof prints the accuracy table and whatever is not as it should be.
func writeProof(out io.Writer, r *verify.Result) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format, args...) } // Flush reports errors
	line("task\tcases\tok\tright refused\twrong accepted\tother\n")
	for i := range r.Tasks {
		x := &r.Tasks[i]
		refused, accepted := x.Count(verify.RightRefused), x.Count(verify.WrongAccepted)
		ok := x.Count(verify.OK)
		line("%s\t%d\t%d\t%d\t%d\t%d\n", x.Ref, len(x.Cases), ok, refused, accepted, len(x.Cases)-ok-refused-accepted)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range r.Tasks {
		if err := writeFaults(out, &r.Tasks[i]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\n%d right answers refused, %d wrong answers accepted, in %s\n",
		r.Count(verify.RightRefused), r.Count(verify.WrongAccepted), r.Finished.Sub(r.Started).Round(time.Second))
	return err
}

func writeFaults(out io.Writer, x *verify.Task) error {
	for i := range x.Cases {
		c := &x.Cases[i]
		if c.Outcome == verify.OK {
			continue
		}
		if _, err := fmt.Fprintf(out, "\n%s %s %s %v: %s: %s\n", c.Task, c.Kind, c.File, c.Params, c.Outcome, c.Problem); err != nil {
			return err
		}
	}
	for _, id := range x.Unexercised {
		if _, err := fmt.Fprintf(out, "\n%s: no rejected case makes the check %q fail\n", x.Ref, id); err != nil {
			return err
		}
	}
	for _, m := range x.Survivors {
		if _, err := fmt.Fprintf(out, "\n%s: mutant of %s still scores full: %s\n", x.Ref, m.File, m.Name); err != nil {
			return err
		}
	}
	return nil
}
