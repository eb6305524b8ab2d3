package grader

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

func podRef(p *corev1.Pod) PodRef { return PodRef{p.Namespace, p.Name} }

// inside returns the Pod and the container to probe, or why they are not ready.
func (s *scene) inside(name string) (*corev1.Pod, string, *finding) {
	k, f := s.obj.pick(name)
	if k.Container == nil {
		return nil, "", &f
	}
	pod, f := s.pod()
	if pod == nil {
		return nil, "", &f
	}
	return pod, k.Name, running(pod, k.Name)
}

// exec runs a command in a container and judges what it writes.
func (c *compiler) exec(m *labs.Exec) {
	if !c.on("exec", withPods()...) {
		return
	}
	if len(m.Command) == 0 {
		c.problem("exec gives no command")
	}
	c.checkMatch("exec", &m.Match, false)
	c.probe(m.Within, func(ctx context.Context, s *scene) (finding, error) {
		pod, container, f := s.inside(m.Container)
		if f != nil {
			return *f, nil
		}
		command := make([]string, len(m.Command))
		for i, word := range m.Command {
			command[i] = s.fill(word)
		}
		got, err := s.cluster.Exec(ctx, podRef(pod), container, command)
		if err != nil {
			return finding{}, err
		}
		return s.judgeExec(m, pod, container, strings.Join(command, " "), got), nil
	})
}

func (s *scene) judgeExec(m *labs.Exec, pod *corev1.Pod, container, command string, got ExecResult) finding {
	object := "Pod/" + pod.Name
	if got.Code != m.ExitCode {
		said := strings.TrimSpace(got.Stderr)
		if said == "" {
			said = strings.TrimSpace(got.Stdout)
		}
		return fail(Msg("exec.code", "container", container, "command", command,
			"expected", itoa(m.ExitCode), "observed", itoa(got.Code))).of(object).
			compared(itoa(m.ExitCode), itoa(got.Code)).show(said)
	}
	if d := s.judge(&m.Match, got.Stdout); d.kind != fits {
		return fail(d.output(container, command)).of(object).
			compared(d.expected, line(got.Stdout)).show(got.Stdout)
	}
	return pass(Msg("exec.passed", "container", container, "command", command)).of(object).show(got.Stdout)
}

// line shortens a text to show it beside what was expected.
func line(s string) string {
	s = strings.TrimSpace(s)
	first, rest, more := strings.Cut(s, "\n")
	if more && rest != "" || len(first) > 120 {
		if len(first) > 120 {
			first = strings.ToValidUTF8(first[:120], "")
		}
		return first + " …"
	}
	if first == "" {
		return unset
	}
	return first
}
