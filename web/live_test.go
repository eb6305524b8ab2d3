package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web"
)

// staged is a study whose cluster changes when a test says so.
type staged struct {
	web.Study
	marks   chan struct{}
	stopped chan struct{}

	mu   sync.Mutex
	view study.TaskView
}

func newStaged(t *testing.T) *staged {
	return &staged{
		Study: newStudy(t, starting()), marks: make(chan struct{}, 1), stopped: make(chan struct{}, 10),
		view: study.TaskView{
			Live:   study.LiveView{State: study.LiveOn},
			Checks: []study.CheckView{{ID: "one", Title: labs.Text{EN: "One"}}, {ID: "two", Title: labs.Text{EN: "Two"}}},
		},
	}
}

func (s *staged) Follow(context.Context, study.Learner, labs.Ref) (<-chan struct{}, func(), error) {
	return s.marks, func() { s.stopped <- struct{}{} }, nil
}

func (s *staged) Open(_ context.Context, _ study.Learner, ref labs.Ref) (*study.TaskView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view
	v.Ref = ref
	return &v, nil
}

// show sets how the task stands and marks the page.
func (s *staged) show(state study.LiveState, results ...grader.Result) {
	s.mu.Lock()
	s.view.Live = study.LiveView{State: state, Report: &grader.Report{Results: results}}
	s.mu.Unlock()
	s.marks <- struct{}{}
}

func is(check string, v grader.Verdict) grader.Result {
	return grader.Result{Check: check, Verdict: v, Reason: grader.Msg("probe.onCheck"), Rank: grader.Declared}
}

// stream is an open live page.
type stream struct {
	t     *testing.T
	res   *http.Response
	lines *bufio.Scanner
	leave context.CancelFunc
}

func follow(t *testing.T, site *httptest.Server) *stream {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, site.URL+withoutSetup+"/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &stream{t, res, bufio.NewScanner(res.Body), leave}
}

// next is the next event: its name, and the rows or the state that it tells.
func (s *stream) next() string {
	s.t.Helper()
	var event []string
	for s.lines.Scan() {
		line := s.lines.Text()
		name, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			return strings.Join(event, " ")
		case name == "event":
			event = append(event, strings.TrimSpace(value))
		case strings.Contains(value, "<li "):
			for _, row := range strings.Split(value, "<li ")[1:] {
				_, id, _ := strings.Cut(row, `id="check-`)
				id, _, _ = strings.Cut(id, `"`)
				_, class, _ := strings.Cut(row, `class="`)
				class, _, _ = strings.Cut(class, `"`)
				event = append(event, id, strings.TrimPrefix(class, "check "))
			}
		case event[0] == "state":
			event = append(event, strings.TrimSpace(value))
		}
	}
	return "end"
}

func (s *stream) expect(want ...string) {
	s.t.Helper()
	var got []string
	for range want {
		got = append(got, s.next())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Fatalf("events, -want +got:\n%s", diff)
	}
}

func TestALivePageGetsAllAndThenWhatChanges(t *testing.T) {
	s := newStaged(t)
	s.view.Live.Report = &grader.Report{Results: []grader.Result{is("one", grader.Fail), is("two", grader.Pending)}}
	site := newSite(t, s)
	page := follow(t, site)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", "Content-Encoding": "",
	} {
		if got := page.res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	page.expect("rows one verdict-fail is-live two verdict-pending is-live", "state on")

	s.show(study.LiveOn, is("one", grader.Pass), is("two", grader.Pending))
	page.expect("rows one verdict-pass is-live")
	// Nothing new: the next event is that of the next change.
	s.show(study.LiveOn, is("one", grader.Pass), is("two", grader.Pending))
	s.show(study.LiveAway)
	page.expect("state away")
	s.show(study.LiveOn, is("one", grader.Pass), is("two", grader.Fail))
	page.expect("rows two verdict-fail is-live", "state on")

	again := follow(t, site)
	again.expect("rows one verdict-pass is-live two verdict-fail is-live", "state on")
	again.leave()
	page.leave()
	for range 2 {
		select {
		case <-s.stopped:
		case <-time.After(10 * time.Second):
			t.Fatal("a page that has gone is still followed")
		}
	}
}

func TestAGradedVerdictStaysUntilALookTellsOtherwise(t *testing.T) {
	s := newStaged(t)
	s.view.Last = &study.Attempt{Report: &grader.Report{Results: []grader.Result{is("one", grader.Pass), is("two", grader.Pass)}}}
	// The first waits for a probe, which the grading has made.
	s.view.Live.Report = &grader.Report{Results: []grader.Result{is("one", grader.Pending), is("two", grader.Fail)}}
	s.view.Live.Report.Results[1].Reason = grader.Msg("needs.failed", "check", "one")
	follow(t, newSite(t, s)).expect("rows one verdict-pass two verdict-fail is-live")
}

func TestALivePageEndsWithTheServer(t *testing.T) {
	s := newStaged(t)
	site := newSite(t, s)
	page := follow(t, site)
	page.expect("rows one verdict-none two verdict-none", "state on")
	close(s.marks)
	page.expect("end")
	stop, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := site.Config.Shutdown(stop); err != nil {
		t.Errorf("the page holds the server up: %v", err)
	}
}

func TestAnUnknownTaskHasNothingLive(t *testing.T) {
	site := newSite(t, newStudy(t, starting()))
	if res, _ := send(t, site, request{path: "/labs/ckad-multi/tasks/nowhere/live"}); res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", res.StatusCode)
	}
}
