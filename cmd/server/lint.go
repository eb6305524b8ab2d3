package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

func (p *program) lint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint [DIR...]",
		Short: "Check lab files without a cluster; without DIR, the built-in labs and those of --labs",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := p.config(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			sources := map[string]fs.FS{}
			order := args
			if len(args) == 0 {
				sources[""] = labs.Embedded()
				order = append([]string{""}, c.Labs...)
			}
			for _, dir := range order {
				if dir != "" {
					sources[dir] = os.DirFS(dir)
				}
			}
			tasks, problems := 0, 0
			for _, dir := range order {
				n, found, err := lintFolder(sources[dir])
				if err != nil {
					return fmt.Errorf("lint %s: %w", dir, err)
				}
				tasks += n
				problems += len(found)
				for _, f := range found {
					if dir != "" {
						f.File = dir + "/" + f.File
					}
					if _, err := fmt.Fprintln(cmd.OutOrStdout(), f); err != nil {
						return fmt.Errorf("write: %w", err)
					}
				}
			}
			if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "%d tasks, %d problems\n", tasks, problems); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			if problems > 0 {
				return exitCode(1)
			}
			return nil
		},
	}
}

// lintFolder returns the number of sound tasks and every problem: of the
// files, of their sense, and of checks that the grader cannot compile.
func lintFolder(fsys fs.FS) (int, labs.Problems, error) {
	catalog, err := labs.Load(fsys)
	var problems labs.Problems
	if err != nil && !errors.As(err, &problems) {
		return 0, nil, err
	}
	problems = append(problems, labs.Lint(catalog)...)
	tasks := 0
	for _, lab := range catalog.Labs {
		for _, task := range lab.Tasks {
			tasks++
			file := task.Ref.String() + "/task.yaml"
			inst, err := task.Instance(lab.Name, 0)
			if err == nil {
				_, err = grader.Compile(inst)
			}
			if err != nil {
				problems = append(problems, labs.Problem{File: file, Text: err.Error()})
			}
		}
	}
	return tasks, problems, nil
}
