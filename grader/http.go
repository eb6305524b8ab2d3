package grader

import (
	"context"
	"net/url"
	"strings"

	"github.com/podproof/podproof/labs"
)

// http gets a URL from inside the Pod and judges the answer.
func (c *compiler) http(m *labs.HTTP) {
	if !c.on("http", withPods()...) {
		return
	}
	if u, err := url.Parse(strings.ReplaceAll(m.Get, "{{nonce}}", "0")); err != nil || u.Scheme != "http" || u.Host == "" {
		c.problem("http.get: %q is no http:// URL", m.Get)
	}
	c.checkMatch("http", &m.Match, false)
	c.probe(m.Within, func(ctx context.Context, s *scene) (finding, error) {
		pod, container, f := s.inside(m.Container)
		if f != nil {
			return *f, nil
		}
		address := s.fill(m.Get)
		got, err := s.cluster.Get(ctx, podRef(pod), container, address)
		if err != nil {
			return finding{}, err
		}
		object := "Pod/" + pod.Name
		switch {
		case got.Failed != "":
			return fail(Msg("http.failed", "url", address, "container", container, "error", got.Failed)).
				of(object).show(got.Failed).doc(docNetwork), nil
		case m.Status != 0 && got.Status != m.Status:
			return fail(Msg("http.status", "url", address, "expected", itoa(m.Status), "observed", itoa(got.Status))).
				of(object).compared(itoa(m.Status), itoa(got.Status)).show(got.Body), nil
		}
		if d := s.judge(&m.Match, got.Body); d.kind != fits {
			return fail(d.body(address)).of(object).compared(d.expected, line(got.Body)).show(got.Body), nil
		}
		return pass(Msg("http.passed", "url", address, "status", itoa(got.Status))).of(object).show(got.Body), nil
	})
}
