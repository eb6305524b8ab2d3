package grader

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podproof/podproof/labs"
)

// ambassador: the app speaks to localhost only, and another container carries
// it to the backend. A connection from within the Pod must bring the backend's
// own answer, for a path too that nobody can have prepared. In a copy without
// the helper the app must come to no answer, and in one that cannot reach the
// backend there must be none.
func (c *compiler) ambassador(m *labs.Ambassador) {
	if !c.on("ambassador", KindPod, KindDeployment) {
		return
	}
	c.see(KindConfigMap, KindSecret, KindService)
	name, port, ok := strings.Cut(m.Backend, ":")
	if _, err := strconv.ParseUint(port, 10, 16); !ok || name == "" || err != nil {
		c.problem("ambassador.backend: %q is not NAME:PORT", m.Backend)
	}
	if m.Port < 1 || m.Port > 65535 {
		c.problem("ambassador.port: %d is no port", m.Port)
	}
	a := &ambassador{Ambassador: m, name: name, host: hostPattern(name)}
	c.look(Declared, 0, a.declared)
	c.look(Reported, m.Within, func(s *scene) finding { return bothRun(s, m.App, m.Container) })
	c.probe(m.Within, a.answers)
	c.probe(m.Within, a.passesOn)
	c.try("ambassador", a.copies)
}

type ambassador struct {
	*labs.Ambassador
	name string         // of the backend Service
	host *regexp.Regexp // finds the backend named as a host
}

// hostPattern matches a Service's name where it stands for a host: in a URL,
// before a port, with its namespace, as a word of its own before a port, or by
// by the variables that Kubernetes sets. A path or a word that happens to be the
// same is none of them; nor is the file in "cat stock 2>/dev/null".
func hostPattern(service string) *regexp.Regexp {
	q := regexp.QuoteMeta(service)
	variable := regexp.QuoteMeta(strings.ToUpper(strings.ReplaceAll(service, "-", "_")))
	return regexp.MustCompile(fmt.Sprintf(
		`(?:^|[^A-Za-z0-9._/-]|//)%s(?::\d|\.[a-z0-9-]+(?::|/|\s|$|\.svc)|\s+\d+(?:[^\d>&<\w]|$))|//(?:[^/@\s]*@)?%s(?:[/:\s"']|$)|\b%s_(?:SERVICE_HOST|PORT)\b`,
		q, q, variable))
}

// named returns the word of a container by which it names the backend, if it does.
func (a *ambassador) named(s *scene, c *corev1.Container) string {
	words := append(append([]string{}, c.Command...), c.Args...)
	for _, e := range c.Env {
		words = append(words, e.Value)
	}
	ip := a.clusterIP(s)
	for _, w := range words {
		if strings.TrimSpace(w) == a.name || a.host.MatchString(w) || (ip != "" && strings.Contains(w, ip)) {
			return w
		}
	}
	return ""
}

func (a *ambassador) clusterIP(s *scene) string {
	o := s.find(ref{KindService, a.name})
	if o == nil {
		return ""
	}
	ip := o.value.(*corev1.Service).Spec.ClusterIP
	if ip == corev1.ClusterIPNone {
		return ""
	}
	return ip
}

func (a *ambassador) declared(s *scene) finding {
	app, f := s.obj.pick(a.App)
	if app.Container == nil {
		return f
	}
	helper, f := s.obj.pick(a.Container)
	if helper.Container == nil {
		return f
	}
	if helper.plainInit() {
		return fail(Msg("sidecar.isInit", "container", a.Container)).at(s.obj.in(helper.path())).
			why(Msg("sidecar.plainInit.why")).doc(docSidecar)
	}
	if word := a.named(s, app.Container); word != "" {
		return fail(Msg("ambassador.direct", "app", a.App, "backend", a.name, "ambassador", a.Container)).
			at(s.obj.in(app.path())).compared("localhost:"+itoa(a.Port), a.name).
			show(word).why(Msg("ambassador.direct.why", "port", itoa(a.Port)))
	}
	return pass(Msg("ambassador.declared", "app", a.App))
}

// bothRun: two containers that work together run both.
func bothRun(s *scene, names ...string) finding {
	pod, f := s.pod()
	if pod == nil {
		return f
	}
	for _, name := range names {
		if f := running(pod, name); f != nil {
			return *f
		}
	}
	return pass(Msg("sidecar.runs", "container", names[len(names)-1])).of("Pod/" + pod.Name)
}

func (a *ambassador) local() string {
	return "http://localhost:" + itoa(a.Port) + "/" + strings.TrimPrefix(a.Get, "/")
}

// remote is the backend's own URL. It goes by the Service's address where there
// is one, as not every program in an image can resolve names.
func (a *ambassador) remote(s *scene) string {
	host := a.Backend
	if ip := a.clusterIP(s); ip != "" {
		_, port, _ := strings.Cut(a.Backend, ":")
		host = net.JoinHostPort(ip, port)
	}
	return "http://" + host + "/" + strings.TrimPrefix(a.Get, "/")
}

// answers: what localhost answers is what the backend answers.
func (a *ambassador) answers(ctx context.Context, s *scene) (finding, error) {
	pod, _, f := s.inside(a.App)
	if f != nil {
		return *f, nil
	}
	object := "Pod/" + pod.Name
	got, err := s.cluster.Get(ctx, podRef(pod), a.App, a.local())
	if err != nil {
		return finding{}, err
	}
	if got.Failed != "" {
		return fail(Msg("ambassador.noAnswer", "app", a.App, "ambassador", a.Container, "port", itoa(a.Port), "error", got.Failed)).
			of(object).show(got.Failed).why(Msg("ambassador.localhost.why")).doc(docNetwork), nil
	}
	want, err := s.cluster.Get(ctx, podRef(pod), a.App, a.remote(s))
	if err != nil {
		return finding{}, err
	}
	if want.Failed != "" || want.Status >= 500 {
		return fault(Msg("ambassador.backendDown", "backend", a.Backend, "error", want.Failed)).of(object).ranked(Probed), nil
	}
	if got.Status != want.Status || strings.TrimSpace(got.Body) != strings.TrimSpace(want.Body) {
		return fail(Msg("ambassador.otherAnswer", "port", itoa(a.Port), "backend", a.Backend,
			"status", itoa(got.Status), "expected", itoa(want.Status))).
			of(object).compared(line(want.Body), line(got.Body)).show(got.Body), nil
	}
	return pass(Msg("ambassador.answers", "port", itoa(a.Port), "backend", a.Backend)).of(object).
		compared(line(want.Body), line(got.Body)).show(got.Body), nil
}

// passesOn: a path that nobody can have prepared is answered as the backend
// answers it. An answer that was fetched once and kept is found out by this.
func (a *ambassador) passesOn(ctx context.Context, s *scene) (finding, error) {
	pod, _, f := s.inside(a.App)
	if f != nil {
		return *f, nil
	}
	fine := pass(Msg("ambassador.answers", "port", itoa(a.Port), "backend", a.Backend)).of("Pod/" + pod.Name)
	o := s.find(ref{KindService, a.name})
	if o == nil || len(o.value.(*corev1.Service).Spec.Selector) == 0 {
		return fine, nil // what stands behind it is not known here
	}
	backend, port := a.backend(s, o.value.(*corev1.Service))
	if backend == nil {
		return fault(Msg("ambassador.backendDown", "backend", a.Backend, "error", "")).of("Pod/" + pod.Name).ranked(Probed), nil
	}
	path := strings.TrimPrefix(a.Get, "/") + "-" + s.nonce
	want, err := s.cluster.Get(ctx, podRef(backend), backend.Spec.Containers[0].Name, "http://localhost:"+itoa(port)+"/"+path)
	if err != nil {
		return finding{}, err
	}
	got, err := s.cluster.Get(ctx, podRef(pod), a.App, "http://localhost:"+itoa(a.Port)+"/"+path)
	if err != nil {
		return finding{}, err
	}
	if want.Failed != "" {
		return fault(Msg("ambassador.backendDown", "backend", a.Backend, "error", want.Failed)).of("Pod/" + pod.Name).ranked(Probed), nil
	}
	if got.Failed != "" || got.Status != want.Status || strings.TrimSpace(got.Body) != strings.TrimSpace(want.Body) {
		return fail(Msg("ambassador.keeps", "ambassador", a.Container, "backend", a.Backend, "path", "/"+path)).
			of("Pod/"+pod.Name).compared(line(want.Body), line(got.Body)).show(got.Body + got.Failed).
			why(Msg("ambassador.keeps.why")), nil
	}
	return fine, nil
}

// backend returns a ready Pod behind the backend's Service and the port that
// the Service has there, or nil.
func (a *ambassador) backend(s *scene, service *corev1.Service) (*corev1.Pod, int32) {
	_, want, _ := strings.Cut(a.Backend, ":")
	for _, pod := range s.backends(service) {
		if !podReady(pod) {
			continue
		}
		for _, p := range service.Spec.Ports {
			if itoa(p.Port) != want {
				continue
			}
			if p.TargetPort.Type == intstr.Int {
				return pod, p.TargetPort.IntVal
			}
			for i := range pod.Spec.Containers {
				for _, c := range pod.Spec.Containers[i].Ports {
					if c.Name == p.TargetPort.StrVal {
						return pod, c.ContainerPort
					}
				}
			}
		}
	}
	return nil, 0
}
