package grader

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

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
	backend, port := a.backend(s)
	if backend == nil {
		return pass(Msg("ambassador.answers", "port", itoa(a.Port), "backend", a.Backend)).of("Pod/" + pod.Name), nil
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
	if want.Failed == "" && (got.Failed != "" || got.Status != want.Status || strings.TrimSpace(got.Body) != strings.TrimSpace(want.Body)) {
		return fail(Msg("ambassador.keeps", "ambassador", a.Container, "backend", a.Backend, "path", "/"+path)).
			of("Pod/"+pod.Name).compared(line(want.Body), line(got.Body)).show(got.Body + got.Failed).
			why(Msg("ambassador.keeps.why")), nil
	}
	return pass(Msg("ambassador.answers", "port", itoa(a.Port), "backend", a.Backend)).of("Pod/" + pod.Name), nil
}

// backend returns a ready Pod behind the backend's Service and the port that
// the Service has there; nil where that cannot be told.
func (a *ambassador) backend(s *scene) (*corev1.Pod, int32) {
	o := s.find(ref{KindService, a.name})
	if o == nil {
		return nil, 0
	}
	service := o.value.(*corev1.Service)
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

// copiesLimit bounds both copies together.
const copiesLimit = labs.Duration(150 * time.Second)

// copies tries the Pod without its ambassador, then without its backend.
func (a *ambassador) copies(ctx context.Context, s *scene) (finding, error) {
	pod, f := s.pod()
	if pod == nil {
		return f, nil
	}
	want, err := s.cluster.Get(ctx, podRef(pod), a.App, a.remote(s))
	if err != nil {
		return finding{}, err
	}
	return s.inScratch(ctx, copiesLimit, func(ctx context.Context, b *bench) (finding, error) {
		if err := b.scratch.CopyNeeds(ctx, s.Namespace, &pod.Spec); err != nil {
			return finding{}, err
		}
		f, err := a.withoutHelper(ctx, b, pod, want.Body)
		if err != nil || !f.ok() {
			return f.of("Pod/" + pod.Name), err
		}
		return a.withoutBackend(ctx, s, b, pod, want.Body)
	})
}

// withoutHelper: in a copy that lacks the ambassador nothing may answer in its
// place, and the app must not come to the backend's answer by another way.
func (a *ambassador) withoutHelper(ctx context.Context, b *bench, pod *corev1.Pod, want string) (finding, error) {
	unproved := pass(Msg("ambassador.declared", "app", a.App))
	want = strings.TrimSpace(want)
	copied := without(pod, a.Container)
	if want == "" || len(copied.Spec.Containers) == 0 {
		return unproved, nil
	}
	if _, err := b.scratch.CreatePod(ctx, copied); err != nil {
		return finding{}, err
	}
	alone, err := b.alone(ctx, copied, a.App)
	if err != nil || alone == nil {
		return unproved, err
	}
	if running(alone, a.App) == nil {
		got, err := b.cluster.Get(ctx, podRef(alone), a.App, a.local())
		if err != nil {
			return finding{}, err
		}
		if got.Failed == "" && strings.TrimSpace(got.Body) == want {
			return fail(Msg("ambassador.idle", "ambassador", a.Container, "port", itoa(a.Port))).
				compared(unset, line(got.Body)).show(got.Body).why(Msg("ambassador.idle.why")), nil
		}
	}
	wrote, err := b.cluster.Logs(ctx, podRef(alone), a.App, false, maxLog)
	if err != nil {
		return finding{}, err
	}
	if strings.Contains(wrote, want) {
		return fail(Msg("ambassador.past", "app", a.App, "ambassador", a.Container)).
			compared(unset, line(want)).show(wrote).why(Msg("ambassador.direct.why", "port", itoa(a.Port))), nil
	}
	return unproved, nil
}

// nowhere is an address that refuses every connection at once.
const nowhere = "255.255.255.255"

// withoutBackend: a copy that cannot reach the backend must not give its answer.
func (a *ambassador) withoutBackend(ctx context.Context, s *scene, b *bench, pod *corev1.Pod, want string) (finding, error) {
	proved := pass(Msg("ambassador.proved", "ambassador", a.Container, "backend", a.Backend)).of("Pod/" + pod.Name)
	copied := copyPod(pod)
	copied.Labels = nil // no copy of a Service may take it for a backend
	full := a.name + "." + s.Namespace
	copied.Spec.HostAliases = append([]corev1.HostAlias{{IP: nowhere, Hostnames: []string{
		a.name, full, full + ".svc", full + ".svc.cluster.local",
	}}}, copied.Spec.HostAliases...)
	if err := b.dropService(ctx, a.name); err != nil {
		return finding{}, err
	}
	if _, err := b.scratch.CreatePod(ctx, copied); err != nil {
		return finding{}, err
	}
	answered, err := a.stillAnswers(ctx, b, ref{KindPod, copied.Name}, want)
	if err != nil || !answered {
		return proved, err
	}
	if a.known(s, pod) {
		// It knows the backend by another way, past the names taken from it
		// here: this experiment proves nothing against it.
		return proved, nil
	}
	return fail(Msg("ambassador.fake", "ambassador", a.Container, "backend", a.name)).of("Pod/"+pod.Name).
		compared(unset, line(want)).show(want), nil
}

func (b *bench) dropService(ctx context.Context, name string) error {
	snap, err := b.scratch.Snapshot(ctx, b.scratch.Namespace(), []Kind{KindService})
	if err != nil {
		return err
	}
	if snap.find(ref{KindService, name}) == nil {
		return nil
	}
	return b.scratch.DeleteService(ctx, name)
}

// How long the copy may take to start, and how often it is asked then.
const (
	ambassadorStart = 20 * time.Second
	ambassadorAsks  = 4
)

// stillAnswers reports whether the copy gives the backend's answer.
func (a *ambassador) stillAnswers(ctx context.Context, b *bench, r ref, want string) (bool, error) {
	until, asked := time.Now().Add(ambassadorStart), 0
	for asked < ambassadorAsks && time.Now().Before(until) {
		snap, err := b.scratch.Snapshot(ctx, b.scratch.Namespace(), kindsFor(KindPod))
		if err != nil {
			return false, err
		}
		if o := snap.find(r); o != nil {
			pod := o.value.(*corev1.Pod)
			st := status(pod, a.Container)
			if st != nil && ended(st) != nil {
				return false, nil // it gave up without its backend
			}
			if running(pod, a.Container) == nil && running(pod, a.App) == nil {
				got, err := b.cluster.Get(ctx, podRef(pod), a.App, a.local())
				if err != nil {
					return false, err
				}
				if got.Failed == "" && got.Status < 400 && strings.TrimSpace(got.Body) == strings.TrimSpace(want) {
					return true, nil
				}
				asked++
			}
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(2 * trialPause):
		}
	}
	return false, nil
}

// known reports whether the ambassador's container, or a ConfigMap or Secret
// of its Pod, names the backend. A made-up answer has no need to.
func (a *ambassador) known(s *scene, pod *corev1.Pod) bool {
	names := []string{a.name + "." + s.Namespace}
	if ip := a.clusterIP(s); ip != "" {
		names = append(names, ip)
	}
	var texts []string
	if k, ok := containerNamed(&pod.Spec, a.Container); ok {
		texts = append(append(texts, k.Command...), k.Args...)
		for _, e := range k.Env {
			texts = append(texts, e.Value)
		}
	}
	for i := range s.ConfigMaps {
		for _, v := range s.ConfigMaps[i].Data {
			texts = append(texts, v)
		}
	}
	for i := range s.Secrets {
		for _, v := range s.Secrets[i].Data {
			texts = append(texts, string(v))
		}
	}
	for _, t := range texts {
		for _, n := range names {
			if strings.Contains(t, n) {
				return true
			}
		}
	}
	return false
}
