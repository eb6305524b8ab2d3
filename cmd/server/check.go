package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// Exit codes of check for an attempt that did not pass.
const (
	exitWrong     exitCode = 1
	exitUndecided exitCode = 3
)

func (p *program) check() *cobra.Command {
	var output, lang string
	cmd := &cobra.Command{
		Use:   "check LAB/TASK",
		Short: "Grade a task as it stands on the cluster, and store the attempt",
		Long: "Grade a task as it stands on the cluster, and store the attempt.\n" +
			"Exit code 0: every check passed; 1: one failed; 3: one could not be decided;\n" +
			"5: the cluster cannot be used.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := parseRef(args[0])
			if err != nil {
				return err
			}
			write, ok := attemptFormats()[output]
			if !ok {
				return fmt.Errorf("--output: %q is none of text, json, junit", output)
			}
			return p.withCluster(cmd, func(a *app.App) error {
				attempt, err := a.Study.Grade(cmd.Context(), study.Local, ref)
				if err != nil {
					return tell(a, lang, err)
				}
				view, err := a.Study.Open(cmd.Context(), study.Local, ref)
				if err != nil {
					return tell(a, lang, err)
				}
				if err := write(cmd.OutOrStdout(), wordsFor(a, labs.Lang(lang), view), attempt); err != nil {
					return fmt.Errorf("write the report: %w", err)
				}
				switch attempt.Verdict {
				case grader.Pass:
					return nil
				case grader.Fail:
					return exitWrong
				default:
					return exitUndecided
				}
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json or junit")
	langFlag(cmd, &lang)
	return cmd
}

func attemptFormats() map[string]func(io.Writer, words, *study.Attempt) error {
	return map[string]func(io.Writer, words, *study.Attempt) error{
		"text": writeText, "json": writeJSON, "junit": writeJUnit,
	}
}

// words says things in one language.
type words struct {
	title   string
	checks  map[string]string // titles by id
	message func(grader.Message) string
}

func wordsFor(a *app.App, lang labs.Lang, v *study.TaskView) words {
	w := words{
		title:   v.Title.In(lang),
		checks:  make(map[string]string),
		message: func(m grader.Message) string { return a.Text.Message(lang, m) },
	}
	for _, c := range v.Checks {
		w.checks[c.ID] = c.Title.In(lang)
	}
	return w
}

func writeText(out io.Writer, w words, a *study.Attempt) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", a.Ref, w.title)
	for _, r := range a.Report.Results {
		fmt.Fprintf(&b, "%-7s  %d/%d  %s\n", r.Verdict, r.Earned, r.Points, w.checks[r.Check])
		if r.Verdict == grader.Pass {
			continue
		}
		fmt.Fprintf(&b, "%s%s\n", indent, w.message(r.Reason))
		for _, line := range []struct{ label, text string }{
			{"object", strings.TrimSpace(r.Object + " " + r.Path)},
			{"expected", r.Expected}, {"observed", r.Observed}, {"docs", r.Docs},
		} {
			if line.text != "" {
				fmt.Fprintf(&b, "%s%s: %s\n", indent, line.label, line.text)
			}
		}
		if r.Because != nil {
			fmt.Fprintf(&b, "%s%s\n", indent, w.message(*r.Because))
		}
	}
	fmt.Fprintf(&b, "\n%s: %d of %d points in %.1f s\n", a.Verdict, a.Earned, a.Total, a.Finished.Sub(a.Started).Seconds())
	_, err := io.WriteString(out, b.String())
	return err
}

const indent = "              "

// jsonAttempt is what check -o json prints: the report with its words.
type jsonAttempt struct {
	Task    string         `json:"task"`
	Attempt int64          `json:"attempt"`
	Verdict grader.Verdict `json:"verdict"`
	Earned  int            `json:"earned"`
	Total   int            `json:"total"`
	Results []jsonResult   `json:"results"`
}

type jsonResult struct {
	grader.Result
	Title string `json:"title"`
	Text  string `json:"text"`
}

func writeJSON(out io.Writer, w words, a *study.Attempt) error {
	j := jsonAttempt{Task: a.Ref.String(), Attempt: a.ID, Verdict: a.Verdict, Earned: a.Earned, Total: a.Total}
	for _, r := range a.Report.Results {
		j.Results = append(j.Results, jsonResult{Result: r, Title: w.checks[r.Check], Text: w.message(r.Reason)})
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(j)
}

// The elements of JUnit's format that its readers agree on.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitProblem `xml:"failure,omitempty"`
	Error   *junitProblem `xml:"error,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(out io.Writer, w words, a *study.Attempt) error {
	s := junitSuite{
		Name: a.Ref.String(), Tests: len(a.Report.Results),
		Time: fmt.Sprintf("%.3f", a.Finished.Sub(a.Started).Seconds()),
	}
	for _, r := range a.Report.Results {
		c := junitCase{Class: a.Ref.String(), Name: r.Check}
		if r.Verdict != grader.Pass {
			problem := &junitProblem{Message: w.message(r.Reason), Type: string(r.Verdict)}
			if r.Expected != "" || r.Observed != "" {
				problem.Text = fmt.Sprintf("expected: %s\nobserved: %s", r.Expected, r.Observed)
			}
			if r.Verdict == grader.Fail {
				s.Failures++
				c.Failure = problem
			} else { // pending and error alike: not decided
				s.Errors++
				c.Error = problem
			}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(out)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}
