// Command bench measures podproof and prints a line for each figure: name,
// value, unit, goal, and ok or short. It ends with code 1 where one is short.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/podproof/podproof/internal/app"
	"github.com/podproof/podproof/internal/config"
)

// goal is what a figure is held to: at most Max; 0 is a figure that is only told.
type goal struct {
	name, unit string
	max        float64
	about      string
}

func goals() []goal {
	return []goal{
		{"embedded.start", "s", 20, "embedded cluster, components cached, to node Ready"},
		{"embedded.stop", "s", 5, "its orderly stop"},
		{"run.page", "s", 0, "make run, all cached, to the first answer of /"},
		{"run.ready", "s", 35, "make run, all cached, to a page with a cluster to work on"},
		{"memory.cluster", "GiB", 1.2, "proportional set size of the cluster's processes"},
		{"memory.podproof", "MiB", 60, "anonymous memory of podproof after some use"},
		{"memory.podproof.rss", "MiB", 0, "the same with its program's pages, which the kernel may drop"},
		{"grade.live.median", "ms", 25, "a task with 6 declared or reported checks"},
	}
}

// measurement fills in figures by name.
type measurement struct {
	figures []string
	run     func(ctx context.Context, e *env) (map[string]float64, error)
}

// env is what measurements need.
type env struct {
	config config.Config
	log    *slog.Logger
	choice string // kind, embedded or existing
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	ok, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (bool, error) {
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	only := flags.String("name", "", "measure only figures whose names hold this")
	bound := config.Bind(flags)
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	c, err := bound.Load(os.Getenv)
	if err != nil {
		return false, fmt.Errorf("settings:\n%w", err)
	}
	choice, err := app.Choose(ctx, c)
	if err != nil {
		return false, err
	}
	e := &env{config: c, log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), choice: choice}
	got := map[string]float64{}
	var problems []error
	for _, m := range []measurement{
		{[]string{"embedded.start", "embedded.stop"}, measureEmbedded},
		{[]string{"run.page", "run.ready", "memory.cluster", "memory.podproof", "memory.podproof.rss", "grade.live.median"}, measureRun},
	} {
		if !slices.ContainsFunc(m.figures, func(f string) bool { return strings.Contains(f, *only) }) {
			continue
		}
		figures, err := m.run(ctx, e)
		problems = append(problems, err)
		for name, v := range figures {
			got[name] = v
		}
	}
	ok, err := report(out, got, *only)
	return ok, errors.Join(append(problems, err)...)
}

func report(out io.Writer, got map[string]float64, only string) (bool, error) {
	ok := true
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, g := range goals() {
		v, measured := got[g.name]
		if !measured || !strings.Contains(g.name, only) {
			continue
		}
		limit, verdict := "-", "ok"
		if g.max > 0 {
			limit = fmt.Sprintf("<= %g", g.max)
			if v > g.max {
				verdict, ok = "short", false
			}
		}
		if _, err := fmt.Fprintf(t, "%s\t%.2f\t%s\t%s\t%s\t%s\n", g.name, v, g.unit, limit, verdict, g.about); err != nil {
			return false, err
		}
	}
	return ok, t.Flush()
}

// median of a list that is not empty.
func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
