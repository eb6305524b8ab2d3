package web

import (
	"math"
	"strings"
	"time"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web/view"
)

// taskView turns the learner's task into what its page shows.
func (h *Handler) taskView(p view.Page, lang labs.Lang, v *study.TaskView, titles map[labs.Ref]labs.Text) view.Task {
	render := h.prompt.renderer(p)
	now := h.now()
	m := view.Task{
		Path:       taskPath(v.Ref),
		Lab:        view.Link{Path: labPath(v.Ref.Lab), Title: v.LabTitle.In(lang)},
		Title:      v.Title.In(lang),
		Difficulty: v.Difficulty,
		Minutes:    v.Minutes,
		Points:     v.Points,
		State:      stateOf(v.Progress),
		Prompt:     render(v.Prompt.In(lang)),
		Docs:       v.Docs,
		Namespace:  v.Namespace,
		Kubeconfig: v.Cluster.Kubeconfig,
		HasSetup:   v.HasSetup,
		Started:    v.Progress.Started != nil,
		Busy:       string(v.Activity),
		Checks:     h.checksView(lang, v, now),
		Attempts:   attemptsView(v, now),
		Help:       view.Help{HintCount: v.HintCount},
	}
	if v.Progress.Solved != nil {
		at := view.At(*v.Progress.Solved, now)
		m.SolvedAt = &at
	}
	for ref, link := range map[*labs.Ref]**view.Link{v.Previous: &m.Previous, v.Next: &m.Next} {
		if ref != nil {
			*link = &view.Link{Path: taskPath(*ref), Title: titles[*ref].In(lang)}
		}
	}
	for _, o := range v.Removes {
		m.Removes = append(m.Removes, o.Kind+"/"+o.Name)
	}
	for _, hint := range v.Hints {
		m.Help.Hints = append(m.Help.Hints, render(hint.In(lang)))
	}
	if v.Solution != nil {
		m.Help.Solution = render(v.Solution.Text.In(lang) + "\n\n" + answer(p, v.Solution.Answer))
	}
	return m
}

// answer is the reference answer as Markdown.
func answer(p view.Page, s labs.Script) string {
	if s.Text == "" {
		return ""
	}
	language := "yaml"
	if s.Shell() {
		language = "bash"
	}
	fence := "```"
	for strings.Contains(s.Text, fence) {
		fence += "`"
	}
	return "# " + p.T("solution.answer") + "\n\n" + fence + language + "\n" + strings.TrimRight(s.Text, "\n") + "\n" + fence + "\n"
}

func (h *Handler) checksView(lang labs.Lang, v *study.TaskView, now time.Time) view.Checks {
	m := view.Checks{Total: v.Points, Live: string(v.Live.State)}
	results := map[string]grader.Result{}
	if last := v.Last; last != nil {
		at := view.At(last.Finished, now)
		m.At = &at
		m.Earned, m.Total = last.Earned, last.Total
		m.Verdict = view.Verdict(last.Verdict)
		if last.Report != nil {
			for _, r := range last.Report.Results {
				results[r.Check] = r
			}
		}
	}
	seen := map[string]grader.Result{}
	if v.Live.Report != nil {
		for _, r := range v.Live.Report.Results {
			seen[r.Check] = r
		}
	}
	for _, c := range v.Checks {
		row := view.Check{ID: c.ID, Title: c.Title.In(lang), Points: c.Points}
		if r, ok := results[c.ID]; ok {
			h.fill(&row, r, lang)
			switch row.Verdict {
			case view.Pass:
				m.Passed++
			case view.Fail:
				m.Failed++
			case view.Pending:
				m.Waiting++
			case view.Error:
				m.Unknown++
			}
		}
		if r, ok := seen[c.ID]; ok && saysMore(r, row.Verdict) {
			h.fill(&row, r, lang)
			row.Live = true
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// saysMore reports whether a live result is worth showing over a graded
// verdict: only where things have changed since, as far as a look can tell.
func saysMore(r grader.Result, graded view.Verdict) bool {
	switch {
	case graded == "":
		return true
	case view.Verdict(r.Verdict) == graded:
		return false
	case graded == view.Pass:
		// A grading waits for a state to last. A look that has not seen it last
		// for as long knows less, and must not take the pass back.
		return r.Verdict == grader.Fail
	default:
		// What waits for a probe was probed by the grading.
		return r.Verdict != grader.Pending || r.Waits()
	}
}

func (h *Handler) fill(row *view.Check, r grader.Result, lang labs.Lang) {
	row.Verdict = view.Verdict(r.Verdict)
	row.Earned = r.Earned
	row.Reason = h.texts.Message(lang, r.Reason)
	row.Expected, row.Observed = r.Expected, r.Observed
	row.Rank = string(r.Rank)
	row.Where = strings.TrimSpace(r.Object + " " + r.Path)
	row.Docs = r.Docs
	row.Excerpt = r.Excerpt
	if r.Because != nil {
		row.Because = h.texts.Message(lang, *r.Because)
	}
}

func attemptsView(v *study.TaskView, now time.Time) []view.Attempt {
	var out []view.Attempt
	for i, a := range v.Attempts {
		out = append(out, view.Attempt{
			Number:  v.Progress.Attempts - i,
			At:      view.At(a.Finished, now),
			Verdict: view.Verdict(a.Verdict),
			Earned:  a.Earned,
			Total:   a.Total,
			Seconds: int(math.Ceil(a.Finished.Sub(a.Started).Seconds())),
		})
	}
	return out
}
