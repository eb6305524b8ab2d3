package grader

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// adapter: the app's own output stays as it is, and another container serves
// it as Prometheus text. In a copy, one more line must raise the metric by one,
// and in one without the helper nothing may serve it.
func (c *compiler) adapter(m *labs.Adapter) {
	if !c.on("adapter", KindPod, KindDeployment) {
		return
	}
	if m.Port < 1 || m.Port > 65535 {
		c.problem("adapter.port: %d is no port", m.Port)
	}
	if !model.UTF8Validation.IsValidMetricName(m.Metric) {
		c.problem("adapter.metric: %q is no name of a metric", m.Metric)
	}
	a := &adapter{m}
	c.look(Declared, 0, a.declared)
	c.look(Reported, m.Within, func(s *scene) finding { return bothRun(s, m.App, m.Container) })
	c.probe(m.Within, func(ctx context.Context, s *scene) (finding, error) {
		pod, _, f := s.inside(m.Container)
		if f != nil {
			return *f, nil
		}
		_, found, err := a.read(ctx, s, pod)
		return found, err
	})
	c.try("adapter", a.follows)
}

type adapter struct{ *labs.Adapter }

func (a *adapter) declared(s *scene) finding {
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
	return pass(Msg("adapter.declared", "app", a.App, "adapter", a.Container))
}

func (a *adapter) url() string {
	path := a.Path
	if path == "" {
		path = "/metrics"
	}
	return "http://localhost:" + itoa(a.Port) + "/" + strings.TrimPrefix(path, "/")
}

// series is the metric as a query would write it: m{code="500"}.
func (a *adapter) series() string {
	if len(a.Labels) == 0 {
		return a.Metric
	}
	var parts []string
	for _, k := range sortedKeys(a.Labels) {
		parts = append(parts, fmt.Sprintf("%s=%q", k, a.Labels[k]))
	}
	return a.Metric + "{" + strings.Join(parts, ",") + "}"
}

// read fetches the metrics of a Pod and returns the value of the series.
func (a *adapter) read(ctx context.Context, s *scene, pod *corev1.Pod) (float64, finding, error) {
	object := "Pod/" + pod.Name
	got, err := s.cluster.Get(ctx, podRef(pod), a.Container, a.url())
	if err != nil {
		return 0, finding{}, err
	}
	switch {
	case got.Failed != "":
		return 0, fail(Msg("adapter.noAnswer", "adapter", a.Container, "url", a.url(), "error", got.Failed)).
			of(object).show(got.Failed).doc(docNetwork), nil
	case got.Status != 200:
		return 0, fail(Msg("adapter.status", "adapter", a.Container, "url", a.url(), "metric", a.Metric, "status", itoa(got.Status))).
			of(object).compared("200", itoa(got.Status)).show(got.Body), nil
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	// Prometheus forgives a missing end of the last line.
	families, err := parser.TextToMetricFamilies(strings.NewReader(got.Body + "\n"))
	if err != nil {
		return 0, fail(Msg("adapter.notPrometheus", "url", a.url(), "metric", a.Metric, "error", err.Error())).
			of(object).show(got.Body).why(Msg("adapter.format.why")), nil
	}
	family := families[a.Metric]
	if family == nil {
		return 0, fail(Msg("adapter.noMetric", "url", a.url(), "metric", a.Metric, "found", listed(sortedKeys(families)))).
			of(object).compared(a.series(), listed(sortedKeys(families))).show(got.Body), nil
	}
	sum, n := 0.0, 0
	seen := map[string]bool{}
	for _, m := range family.Metric {
		key := seriesOf(m)
		if seen[key] {
			return 0, fail(Msg("adapter.twice", "url", a.url(), "series", a.Metric+key)).
				of(object).show(got.Body).why(Msg("adapter.twice.why")), nil
		}
		seen[key] = true
		if a.selects(m) {
			sum += sample(m)
			n++
		}
	}
	if n == 0 {
		return 0, fail(Msg("adapter.noSeries", "url", a.url(), "series", a.series())).
			of(object).compared(a.series(), a.Metric).show(got.Body), nil
	}
	return sum, pass(Msg("adapter.serves", "series", a.series(), "value", number64(sum))).of(object).show(got.Body), nil
}

// seriesOf tells the series of one metric apart: its labels in order.
func seriesOf(m *dto.Metric) string {
	var parts []string
	for _, l := range m.Label {
		parts = append(parts, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	if len(parts) == 0 {
		return ""
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ",") + "}"
}

func (a *adapter) selects(m *dto.Metric) bool {
	have := map[string]string{}
	for _, l := range m.Label {
		have[l.GetName()] = l.GetValue()
	}
	return subset(a.Labels, have)
}

func sample(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Untyped != nil:
		return m.Untyped.GetValue()
	default:
		return math.NaN()
	}
}

func number64(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Pace of the adapter's trial.
const (
	// adapterStart is how long a copy may take to serve the metric.
	adapterStart = 40 * time.Second
	// adapterCalm is how long the metric must rest before the line is added.
	adapterCalm = 2 * time.Second
	// adapterRest is how long it may take to come to rest.
	adapterRest = 15 * time.Second
	// adapterFollow is how long it may take to follow where no time is given.
	adapterFollow = 20 * time.Second
	// adapterSlack is what the looks themselves may take on a busy machine.
	adapterSlack = 5 * time.Second
	// adapterBurst is a rise that a metric does not make by itself meanwhile.
	adapterBurst = 200
)

// follows: one more line in a copy's source raises the metric by one.
func (a *adapter) follows(ctx context.Context, s *scene) (finding, error) {
	original, f := s.pod()
	if original == nil {
		return f, nil
	}
	limit := labs.Duration(trialLimit) + a.Within
	return s.inScratch(ctx, limit, func(ctx context.Context, b *bench) (finding, error) {
		copied := copyPod(original)
		if err := b.scratch.CopyNeeds(ctx, s.Namespace, &copied.Spec); err != nil {
			return finding{}, err
		}
		if _, err := b.scratch.CreatePod(ctx, copied); err != nil {
			return finding{}, err
		}
		lone, err := b.createWithout(ctx, original, a.Container)
		if err != nil {
			return finding{}, err
		}
		starting, cancel := context.WithTimeout(ctx, adapterStart)
		defer cancel()
		f, err := b.await(starting, ref{KindPod, copied.Name}, func() finding { return bothRun(b.scene, a.App, a.Container) })
		if err != nil || !f.ok() {
			return f, err
		}
		f, err = a.addLine(ctx, b, b.obj.value.(*corev1.Pod))
		if err != nil || !f.ok() || lone == nil {
			return f, err
		}
		return a.servedBesides(ctx, b, lone, f)
	})
}

// servedBesides: in a copy without the adapter nothing serves the metric in its place.
func (a *adapter) servedBesides(ctx context.Context, b *bench, copied *corev1.Pod, proved finding) (finding, error) {
	lone, err := b.alone(ctx, copied, a.App, time.Second)
	if err != nil || lone == nil || running(lone, a.App) != nil {
		return proved, err
	}
	_, f, err := a.read(ctx, b.scene, lone)
	if err != nil || !f.ok() {
		return proved, err
	}
	return fail(Msg("adapter.idle", "adapter", a.Container, "url", a.url(), "metric", a.Metric)).
		show(f.Excerpt).why(Msg("adapter.idle.why")), nil
}

// addLine adds the line, after one that must not count where there is such,
// and sees the metric follow.
func (a *adapter) addLine(ctx context.Context, b *bench, pod *corev1.Pod) (finding, error) {
	before, calm, f, err := a.atRest(ctx, b, pod)
	if err != nil || !f.ok() {
		return f, err
	}
	rise := 1
	if !calm {
		// Where the metric moves by itself, only a burst stands out.
		rise = adapterBurst
	}
	added := b.fill(a.Line)
	lines := slices.Repeat([]string{added}, rise)
	if a.Ignores != "" {
		lines = slices.Insert(lines, 0, b.fill(a.Ignores))
	}
	wrote, err := b.cluster.Exec(ctx, podRef(pod), a.App, append([]string{
		"sh", "-c", `f=$1; shift; printf '%s\n' "$@" >> "$f"`, "sh", a.Source}, lines...))
	if err != nil {
		return finding{}, err
	}
	if wrote.Code != 0 {
		return fail(Msg("adapter.noSource", "app", a.App, "source", a.Source)).show(wrote.Stderr), nil
	}
	limit := adapterFollow
	switch {
	case a.Fresh > 0:
		limit = time.Duration(a.Fresh) + adapterSlack
	case a.Within > 0:
		limit = time.Duration(a.Within)
	}
	after, f, err := a.risen(ctx, b, pod, before, float64(rise), limit)
	if err != nil {
		return finding{}, err
	}
	shown := "+ " + strings.Join(slices.Compact(lines), "\n+ ")
	wanted := before + float64(rise)
	switch {
	case !f.ok():
		return f, nil
	case after == before:
		return fail(Msg("adapter.constant", "metric", a.series(), "source", a.Source, "value", number64(before), "within", limit.String())).
			compared(number64(wanted), number64(after)).show(shown).why(Msg("adapter.constant.why")), nil
	case calm && a.Ignores != "" && after == wanted+1:
		return fail(Msg("adapter.alsoCounts", "metric", a.series(), "line", lines[0])).
			compared(number64(wanted), number64(after)).show(shown), nil
	// Where the app itself goes on writing, more lines may have come.
	case calm && after != wanted || after < wanted:
		return fail(Msg("adapter.step", "metric", a.series(), "before", number64(before), "after", number64(after), "lines", itoa(rise))).
			compared(number64(wanted), number64(after)).show(shown), nil
	}
	kept, err := b.cluster.Exec(ctx, podRef(pod), a.App, []string{"grep", "-cxF", "--", added, a.Source})
	if err != nil {
		return finding{}, err
	}
	if kept.Code != 0 {
		return fail(Msg("adapter.sourceChanged", "app", a.App, "source", a.Source, "adapter", a.Container)).
			compared(added, line(kept.Stdout)).why(Msg("adapter.sourceChanged.why")), nil
	}
	return pass(Msg("adapter.follows", "metric", a.series(), "before", number64(before), "after", number64(after))).
		compared(number64(wanted), number64(after)).show(shown), nil
}

// risen reads the metric until it has risen, and once more after a moment, or
// until the limit. The finding says whether the last reading came about.
func (a *adapter) risen(ctx context.Context, b *bench, pod *corev1.Pod, before, by float64, limit time.Duration) (after float64, f finding, err error) {
	after = before
	for until := time.Now().Add(limit); ; {
		v, f, err := a.read(ctx, b.scene, pod)
		if err != nil {
			return 0, finding{}, err
		}
		if f.ok() {
			after = v
		}
		if f.ok() && after >= before+by {
			break
		}
		if time.Now().After(until) {
			return after, f, nil
		}
		if err := sleep(ctx, trialPause); err != nil {
			return 0, finding{}, err
		}
	}
	for until := time.Now().Add(adapterCalm); ; {
		if err := sleep(ctx, trialPause); err != nil {
			return 0, finding{}, err
		}
		v, f, err := a.read(ctx, b.scene, pod)
		if err != nil {
			return 0, finding{}, err
		}
		if f.ok() {
			after = v
		}
		if time.Now().After(until) {
			return after, pass(Msg("adapter.serves", "series", a.series(), "value", number64(after))), nil
		}
	}
}

// atRest waits until the metric is served and, if it can, no longer moves.
func (a *adapter) atRest(ctx context.Context, b *bench, pod *corev1.Pod) (value float64, calm bool, f finding, err error) {
	start := time.Now()
	var since time.Time
	for {
		v, f, err := a.read(ctx, b.scene, pod)
		if err != nil {
			return 0, false, finding{}, err
		}
		now := time.Now()
		switch {
		case !f.ok():
			if now.Sub(start) > adapterStart {
				return 0, false, f, nil
			}
		case since.IsZero() || v != value:
			value, since = v, now
		case now.Sub(since) >= adapterCalm:
			return value, true, f, nil
		}
		if f.ok() && now.Sub(start) > adapterStart+adapterRest {
			return value, false, f, nil
		}
		if err := sleep(ctx, trialPause); err != nil {
			return 0, false, finding{}, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
