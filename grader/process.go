package grader

import (
	"context"
	"slices"
	"strings"

	"github.com/podproof/podproof/grader/equal"
	"github.com/podproof/podproof/labs"
)

// process judges what a container runs, however command, args and shell share it.
func (c *compiler) process(m *labs.Process) {
	if !c.on("process", withPods()...) {
		return
	}
	if len(m.Argv) == 0 && m.UsesCommand == nil && m.UsesArgs == nil {
		c.problem("process: give argv, usesCommand or usesArgs")
	}
	if len(m.Argv) > 0 {
		if _, err := equal.Command(m.Argv, m.Argv); err != nil {
			c.problem("process.argv: %w", err)
		}
	}
	c.look(Declared, 0, func(s *scene) finding { return processDeclared(s, m) })
	if len(m.Argv) > 0 {
		c.probe(0, func(ctx context.Context, s *scene) (finding, error) { return processRuns(ctx, s, m) })
	}
}

// argvOf is what a container's spec starts, with the variables of its own spec
// filled in as the kubelet does.
func argvOf(k container) []string {
	p := equal.Process{Command: k.Command, Args: k.Args}
	switch {
	case strings.Contains(k.Image, "nginx"):
		p.Entrypoint, p.Cmd = []string{"/docker-entrypoint.sh"}, []string{"nginx", "-g", "daemon off;"}
	case strings.Contains(k.Image, "busybox"):
		p.Cmd = []string{"sh"}
	}
	argv := slices.Clone(p.Argv())
	for i := range argv {
		for _, e := range k.Env {
			if e.ValueFrom == nil {
				argv[i] = strings.ReplaceAll(argv[i], "$("+e.Name+")", e.Value)
			}
		}
	}
	return argv
}

// script reports whether an argument vector is a shell's script.
func script(argv []string) bool {
	return len(argv) >= 3 && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c")
}

func processDeclared(s *scene, m *labs.Process) finding {
	k, f := s.obj.pick(m.Container)
	if k.Container == nil {
		return f.doc(docCommand)
	}
	for _, use := range []struct {
		field string
		want  *bool
		have  int
	}{{"command", m.UsesCommand, len(k.Command)}, {"args", m.UsesArgs, len(k.Args)}} {
		path := s.obj.in(k.path()) + "." + use.field
		switch {
		case use.want == nil || *use.want == (use.have > 0):
		case *use.want:
			return fail(Msg("process.unused", "container", k.Name, "field", use.field)).at(path).
				compared("≠ "+unset, unset).why(Msg("process.fields.why")).doc(docCommand)
		default:
			return fail(Msg("process.used", "container", k.Name, "field", use.field)).at(path).
				compared(unset, "≠ "+unset).why(Msg("process.fields.why")).doc(docCommand)
		}
	}
	if len(m.Argv) == 0 {
		return pass(Msg("process.runs", "container", k.Name, "observed", strings.Join(argvOf(k), " ")))
	}
	d, same := s.sameProcess(m, argvOf(k))
	if same || script(argvOf(k)) {
		// What a script comes to shows only when it runs.
		return pass(Msg("process.runs", "container", k.Name, "observed", d.Got)).compared(d.Want, d.Got)
	}
	return differs(s, k, d)
}

func differs(s *scene, k container, d equal.Compared) finding {
	return fail(Msg("process.differs", "container", k.Name, "expected", d.Want, "observed", d.Got)).
		at(s.obj.in(k.path())+".command").compared(d.Want, d.Got).doc(docCommand)
}

func (s *scene) sameProcess(m *labs.Process, got []string) (equal.Compared, bool) {
	want := make([]string, len(m.Argv))
	for i, w := range m.Argv {
		want[i] = s.fill(w)
	}
	d, err := equal.Command(want, got)
	return d, err == nil && d.Equal
}

// processRuns judges a script by the process that came of it.
func processRuns(ctx context.Context, s *scene, m *labs.Process) (finding, error) {
	k, f := s.obj.pick(m.Container)
	if k.Container == nil {
		return f, nil
	}
	d, same := s.sameProcess(m, argvOf(k))
	passed := pass(Msg("process.runs", "container", k.Name, "observed", d.Got)).compared(d.Want, d.Got)
	if same {
		return passed.ranked(Declared), nil
	}
	pod, container, waits := s.inside(m.Container)
	if pod == nil || (waits != nil && waits.Verdict == Pending && !finished(pod)) {
		return *waits, nil
	}
	if waits != nil {
		return differs(s, k, d).settle(), nil
	}
	out, err := s.cluster.Exec(ctx, podRef(pod), container, []string{"cat", "/proc/1/cmdline"})
	if err != nil {
		return finding{}, err
	}
	argv := strings.Split(strings.TrimRight(out.Stdout, "\x00"), "\x00")
	if seen, same := s.sameProcess(m, argv); same {
		return passed.compared(seen.Want, seen.Got), nil
	}
	return differs(s, k, d), nil
}
