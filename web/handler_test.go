package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web"
)

// away is a cluster that cannot be reached: every page must do without it.
type away struct{ state study.ClusterState }

var errAway = fmt.Errorf("connection refused: %w", study.ErrUnavailable)

func (a away) State() study.ClusterState                  { return a.state }
func (away) Namespace(_ study.Learner, lab string) string { return lab }
func (away) Grader() (grader.Cluster, error)              { return nil, errAway }
func (away) Watched() (grader.Cluster, error)             { return nil, errAway }
func (away) Apply(context.Context, string, string) error  { return errAway }
func (away) Reset(context.Context, *labs.Instance) error  { return errAway }

// built stands for the browser's files: these tests are about pages.
func built() fs.FS {
	files := fstest.MapFS{"manifest.json": {Data: []byte(`{"app.css":"app-1.css","app.js":"app-2.js","icon.svg":"icon-3.svg"}`)}}
	for _, name := range []string{"app-1.css", "app-2.js", "icon-3.svg"} {
		for _, encoding := range []string{"", ".gz", ".br"} {
			files[name+encoding] = &fstest.MapFile{Data: []byte(name + encoding)}
		}
	}
	return files
}

func newStudy(t *testing.T, state study.ClusterState) *study.Service {
	t.Helper()
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "podproof.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return study.New(catalog, store, away{state}, slog.New(slog.DiscardHandler))
}

func newSite(t *testing.T, s web.Study) *httptest.Server {
	t.Helper()
	texts, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	handler, err := web.New(s, texts, built(), log)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewUnstartedServer(handler)
	site.Config = web.Server(t.Context(), handler, log)
	site.Start()
	t.Cleanup(site.Close)
	return site
}

// request is one request and what must come of it.
type request struct {
	method, path string
	form         url.Values
	header       map[string]string
	host         string
}

func send(t *testing.T, site *httptest.Server, q request) (*http.Response, string) {
	t.Helper()
	if q.method == "" {
		q.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), q.method, site.URL+q.path, strings.NewReader(q.form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if q.form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range q.header {
		req.Header.Set(k, strings.ReplaceAll(v, "SITE", strings.TrimPrefix(site.URL, "http://")))
	}
	if q.host != "" {
		req.Host = q.host
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

const (
	withoutSetup = "/labs/ckad-multi/tasks/native-sidecar"
	withSetup    = "/labs/ckad-multi/tasks/ambassador"
)

func starting() study.ClusterState {
	return study.ClusterState{Phase: study.ClusterStarting, Steps: []study.ClusterStep{{ID: "somewhere", Text: "Going somewhere"}}}
}

func TestPages(t *testing.T) {
	site := newSite(t, newStudy(t, starting()))
	for name, c := range map[string]struct {
		request
		status int
		holds  []string
	}{
		"the first page lists the labs while the cluster comes up": {
			request{path: "/"}, 200, []string{`href="/labs/ckad-multi"`, `href="` + withoutSetup + `"`, "coming up", "Not started"},
		},
		"a lab lists its tasks": {request{path: "/labs/ckad-multi"}, 200, []string{`href="` + withSetup + `"`}},
		"a task can be read while the cluster comes up": {
			request{path: withoutSetup}, 200, []string{"web-logs", `id="check-native"`, `id="check-grace"`, "Not checked"},
		},
		"a task with a setup asks to be started": {request{path: withSetup}, 200, []string{withSetup + `/start"`}},
		"the cluster's page shows the steps":     {request{path: "/cluster"}, 200, []string{"Going somewhere"}},
		"an unknown page":                        {request{path: "/nowhere"}, 404, []string{"There is no such page"}},
		"an unknown lab":                         {request{path: "/labs/nowhere"}, 404, []string{"There is no such page"}},
		"an unknown task":                        {request{path: "/labs/ckad-multi/tasks/nowhere"}, 404, []string{"There is no such page"}},
		"an action on an unknown task":           {request{method: "POST", path: "/labs/ckad-multi/tasks/nowhere/grade"}, 404, []string{"There is no such page"}},
		"an action that is asked for by reading": {request{path: withoutSetup + "/grade"}, 405, []string{"not for this kind of request"}},
		"a path that climbs":                     {request{path: "/assets/..%2fmanifest.json"}, 404, nil},
		"a form beyond all measure": {
			request{method: "POST", path: "/settings", form: url.Values{"back": {strings.Repeat("x", 1<<20)}}}, 413, []string{"larger than"},
		},
		"grading without a cluster is an error and says so on the task's page": {
			request{method: "POST", path: withoutSetup + "/grade"}, 503, []string{`role="alert"`, "connection refused", `id="check-native"`},
		},
		"grading before the start says what to do": {
			request{method: "POST", path: withSetup + "/grade"}, 409, []string{`role="alert"`, "Start ckad-multi/ambassador first"},
		},
		"Japanese by the browser's wish":       {request{path: "/", header: map[string]string{"Accept-Language": "ja-JP,ja;q=0.9,en;q=0.5"}}, 200, []string{`<html lang="ja"`, "未着手"}},
		"the learner's choice comes first":     {request{path: "/", header: map[string]string{"Accept-Language": "ja", "Cookie": "podproof_lang=en"}}, 200, []string{`<html lang="en"`}},
		"a language that we do not have":       {request{path: "/", header: map[string]string{"Accept-Language": "tlh"}}, 200, []string{`<html lang="en"`}},
		"a language cookie that was meddled":   {request{path: "/", header: map[string]string{"Cookie": "podproof_lang=\"><script>"}}, 200, []string{`<html lang="en"`}},
		"the learner's theme":                  {request{path: "/", header: map[string]string{"Cookie": "podproof_theme=ink"}}, 200, []string{`data-theme="ink"`}},
		"an error page in Japanese":            {request{path: "/nowhere", header: map[string]string{"Accept-Language": "ja"}}, 404, []string{"ページが見つかりません"}},
		"an error page for a fragment's place": {request{path: "/nowhere", header: map[string]string{"HX-Request": "true"}}, 404, []string{`id="main"`}},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := send(t, site, c.request)
			if res.StatusCode != c.status {
				t.Fatalf("status %d, want %d\n%s", res.StatusCode, c.status, body)
			}
			for _, want := range c.holds {
				if !strings.Contains(body, want) {
					t.Errorf("the page lacks %q:\n%s", want, body)
				}
			}
			if strings.Contains(body, "<no value>") || strings.Contains(body, "&lt;no value&gt;") {
				t.Errorf("a text lacks a value:\n%s", body)
			}
		})
	}
}

func TestRequestsFromElsewhereAreRefused(t *testing.T) {
	site := newSite(t, newStudy(t, starting()))
	for name, c := range map[string]struct {
		request
		status int
	}{
		"this machine by number":            {request{path: "/"}, 200},
		"this machine by name":              {request{path: "/", host: "localhost:8080"}, 200},
		"this machine by IPv6":              {request{path: "/", host: "[::1]:8080"}, 200},
		"a name that was made to lead here": {request{path: "/", host: "evil.example:8080"}, 403},
		"a name that begins like ours":      {request{path: "/", host: "127.0.0.1.evil.example"}, 403},
		"another machine's number":          {request{path: "/", host: "192.168.1.7:8080"}, 403},
		"files under another name":          {request{path: "/assets/app-1.css", host: "evil.example"}, 403},
		"a form of our own page":            {request{method: "POST", path: "/settings", header: map[string]string{"Origin": "http://SITE", "Sec-Fetch-Site": "same-origin"}}, 303},
		"a program without a browser":       {request{method: "POST", path: "/settings"}, 303},
		"a form of another site":            {request{method: "POST", path: "/settings", header: map[string]string{"Origin": "https://evil.example"}}, 403},
		"another port of this machine":      {request{method: "POST", path: "/settings", header: map[string]string{"Origin": "http://127.0.0.1:1"}}, 403},
		"a form without a name":             {request{method: "POST", path: "/settings", header: map[string]string{"Origin": "null"}}, 403},
		"what the browser calls foreign":    {request{method: "POST", path: "/settings", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		"another site that reads":           {request{path: "/", header: map[string]string{"Origin": "https://evil.example"}}, 403},
		"a foreign reset":                   {request{method: "POST", path: withoutSetup + "/reset", header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := send(t, site, c.request)
			if res.StatusCode != c.status {
				t.Errorf("status %d, want %d\n%s", res.StatusCode, c.status, body)
			}
			if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("Content-Security-Policy: %q", policy)
			}
		})
	}
}

func TestSettingsAreKeptAndLeadBack(t *testing.T) {
	site := newSite(t, newStudy(t, starting()))
	for name, c := range map[string]struct {
		form         url.Values
		cookie, back string
	}{
		"a language":             {url.Values{"lang": {"ja"}, "back": {withoutSetup}}, "podproof_lang=ja", withoutSetup},
		"an unknown language":    {url.Values{"lang": {"xx"}, "back": {"/"}}, "", "/"},
		"dark":                   {url.Values{"theme": {"dark"}, "back": {"/"}}, "podproof_theme=ink", "/"},
		"as the system":          {url.Values{"theme": {"system"}, "back": {"/"}}, "podproof_theme=; Path=/; Max-Age=0", "/"},
		"back to another site":   {url.Values{"back": {"https://evil.example"}}, "", "/"},
		"back without a scheme":  {url.Values{"back": {"//evil.example"}}, "", "/"},
		"back with a backslash":  {url.Values{"back": {`/\evil.example`}}, "", "/"},
		"back with a line break": {url.Values{"back": {"/\r\nSet-Cookie: a=b"}}, "", "/"},
	} {
		t.Run(name, func(t *testing.T) {
			res, _ := send(t, site, request{method: "POST", path: "/settings", form: c.form})
			if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != c.back {
				t.Errorf("%d to %q, want %q", res.StatusCode, got, c.back)
			}
			if got := res.Header.Get("Set-Cookie"); !strings.HasPrefix(got, c.cookie) || (c.cookie == "") != (got == "") {
				t.Errorf("Set-Cookie %q, want %q", got, c.cookie)
			}
		})
	}
}

func TestHintsComeOneByOneAndTheSolutionWhenAsked(t *testing.T) {
	site := newSite(t, newStudy(t, starting()))
	_, before := send(t, site, request{path: withoutSetup})
	if strings.Contains(before, "Hint 1 of") || strings.Contains(before, "The reference answer") {
		t.Fatalf("help before it was asked for:\n%s", before)
	}
	for n := 1; n <= 2; n++ {
		res, _ := send(t, site, request{method: "POST", path: withoutSetup + "/hint"})
		if res.StatusCode != http.StatusSeeOther {
			t.Fatalf("status %d", res.StatusCode)
		}
		_, page := send(t, site, request{path: withoutSetup})
		for i := 1; i <= 3; i++ {
			shown := strings.Contains(page, fmt.Sprintf("<h3>Hint %d of", i))
			if shown != (i <= n) {
				t.Errorf("after %d hints: hint %d shown: %v", n, i, shown)
			}
		}
	}
	send(t, site, request{method: "POST", path: withoutSetup + "/solution"})
	_, after := send(t, site, request{path: withoutSetup})
	if !strings.Contains(after, "The reference answer") {
		t.Errorf("no solution:\n%s", after)
	}
}

// slow is a grading that takes its time and tells whether it was called off.
type slow struct {
	web.Study
	takes time.Duration
	err   chan error
}

func (s slow) Grade(ctx context.Context, _ study.Learner, _ labs.Ref) (*study.Attempt, error) {
	select {
	case <-ctx.Done():
	case <-time.After(s.takes):
	}
	s.err <- ctx.Err()
	return nil, ctx.Err()
}

func TestGradingMayOutlastTheLimitsOfPages(t *testing.T) {
	s := slow{newStudy(t, starting()), 300 * time.Millisecond, make(chan error, 1)}
	site := httptest.NewUnstartedServer(nil)
	texts, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	handler, err := web.New(s, texts, built(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	site.Config.Handler = handler
	site.Config.ReadTimeout = 50 * time.Millisecond
	site.Config.WriteTimeout = 50 * time.Millisecond
	site.Start()
	t.Cleanup(site.Close)
	res, _ := send(t, site, request{method: "POST", path: withoutSetup + "/grade"})
	if err := <-s.err; err != nil {
		t.Errorf("the grading was called off: %v", err)
	}
	if res.StatusCode != http.StatusSeeOther {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestAnActionGoesOnWithoutItsPageAndEndsWithTheServer(t *testing.T) {
	for name, want := range map[string]error{"the page has gone": nil, "the server ends": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			s := slow{newStudy(t, starting()), 300 * time.Millisecond, make(chan error, 1)}
			texts, err := text.New()
			if err != nil {
				t.Fatal(err)
			}
			log := slog.New(slog.DiscardHandler)
			handler, err := web.New(s, texts, built(), log)
			if err != nil {
				t.Fatal(err)
			}
			life, end := context.WithCancel(t.Context())
			defer end()
			site := httptest.NewUnstartedServer(handler)
			site.Config = web.Server(life, handler, log)
			site.Start()
			t.Cleanup(site.Close)
			visit, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer leave()
			req, err := http.NewRequestWithContext(visit, http.MethodPost, site.URL+withoutSetup+"/grade", nil)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
				t.Fatal("the grading was too quick for this test")
			}
			if want != nil {
				end()
			}
			if err := <-s.err; !errors.Is(err, want) {
				t.Errorf("the grading ended with %v, want %v", err, want)
			}
		})
	}
}

func TestFilesAreCompressedAndKeptForEver(t *testing.T) {
	site := newSite(t, newStudy(t, starting()))
	for accept, want := range map[string]string{
		"gzip, deflate, br": "app-2.js.br",
		"gzip":              "app-2.js.gz",
		"br;q=0, gzip":      "app-2.js.gz",
		"identity":          "app-2.js",
	} {
		res, body := send(t, site, request{path: "/assets/app-2.js", header: map[string]string{"Accept-Encoding": accept}})
		if body != want {
			t.Errorf("Accept-Encoding %q: %q, want %q", accept, body, want)
		}
		if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("Cache-Control %q", got)
		}
	}
}

func TestACheckoutThatWasNotBuiltSaysSo(t *testing.T) {
	_, err := web.New(nil, nil, fstest.MapFS{".keep": {}}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "npm run build") {
		t.Errorf("err = %v", err)
	}
}

// broken is a store that fails.
type broken struct{ web.Study }

func (broken) Overview(context.Context, study.Learner) (*study.Overview, error) {
	return nil, errors.New("disk on fire at /secret/path")
}

func (broken) Cluster() study.ClusterState { return starting() }

func TestAFailureShowsNothingOfTheInside(t *testing.T) {
	site := newSite(t, broken{})
	res, body := send(t, site, request{path: "/"})
	if res.StatusCode != http.StatusInternalServerError || strings.Contains(body, "secret") {
		t.Errorf("%d\n%s", res.StatusCode, body)
	}
}

func TestThePageFollowsTheCluster(t *testing.T) {
	for name, c := range map[string]struct {
		phase   study.ClusterPhase
		path    string
		status  int
		refresh string
		holds   string
	}{
		"still starting":           {study.ClusterStarting, "/cluster/band?phase=starting", 204, "", ""},
		"it has failed":            {study.ClusterFailed, "/cluster/band?phase=starting", 200, "", "could not be started"},
		"the failure lasts":        {study.ClusterFailed, "/cluster/band?phase=failed", 204, "", ""},
		"another try":              {study.ClusterStarting, "/cluster/band?phase=failed", 200, "", "coming up"},
		"ready":                    {study.ClusterReady, "/cluster/band?phase=starting", 204, "true", ""},
		"steps while it starts":    {study.ClusterStarting, "/cluster?phase=starting", 200, "", "Going somewhere"},
		"what went wrong":          {study.ClusterFailed, "/cluster", 200, "", "no Docker"},
		"what went wrong, as said": {study.ClusterFailed, "/cluster?phase=failed", 204, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			state := starting()
			state.Phase, state.Problem = c.phase, "no Docker"
			res, body := send(t, newSite(t, newStudy(t, state)), request{path: c.path})
			if res.StatusCode != c.status || res.Header.Get("HX-Refresh") != c.refresh || !strings.Contains(body, c.holds) {
				t.Errorf("%d, refresh %q\n%s", res.StatusCode, res.Header.Get("HX-Refresh"), body)
			}
		})
	}
}
