package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// withCluster runs f with a cluster that is up: one that another podproof
// holds, or one that is started for the time of f. cmd has the flag --lang.
func (p *program) withCluster(cmd *cobra.Command, f func(*app.App) error) (err error) {
	ctx, errOut := cmd.Context(), cmd.ErrOrStderr()
	c, log, err := p.config(errOut)
	if err != nil {
		return err
	}
	a, err := app.New(ctx, c, log, printProgress(errOut))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(ctx)) }()
	if err := a.Workspace.Up(ctx); err != nil {
		lang, langErr := cmd.Flags().GetString("lang")
		if langErr != nil {
			return errors.Join(err, langErr)
		}
		return tell(a, lang, err)
	}
	return f(a)
}

// tell prints what people are told about an error of a use case, and gives the
// exit code that belongs to it. An error that nobody foresaw is shown in full.
func tell(a *app.App, lang string, err error) error {
	problem := study.Explain(err)
	if problem.Code == study.CodeInternal {
		return err
	}
	return &toldError{text: a.Text.Message(labs.Lang(lang), problem.Message), exit: exitCode(problem.Exit), err: err}
}

// toldError is an error with the words for people and an exit code.
type toldError struct {
	text string
	exit exitCode
	err  error
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.err }
