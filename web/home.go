package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web/view"
)

func (h *Handler) home(w http.ResponseWriter, r *http.Request) {
	o, err := h.study.Overview(r.Context(), study.Local)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	p := h.page(r)
	p.Title = p.T("page.home")
	h.render(w, r, http.StatusOK, view.HomePage(p, homeView(o, languageOf(r))))
}

func (h *Handler) lab(w http.ResponseWriter, r *http.Request) {
	o, err := h.study.Overview(r.Context(), study.Local)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	for _, lab := range o.Labs {
		if lab.Name != chi.URLParam(r, "lab") {
			continue
		}
		p := h.page(r)
		m := labView(lab, languageOf(r))
		p.Title = m.Title
		h.render(w, r, http.StatusOK, view.LabPage(p, m))
		return
	}
	h.notFound(w, r)
}

func homeView(o *study.Overview, lang labs.Lang) view.Home {
	var m view.Home
	for _, lab := range o.Labs {
		v := labView(lab, lang)
		m.Labs = append(m.Labs, v)
		m.Solved += v.Solved
		m.Total += len(v.Tasks)
	}
	m.Resume = resume(m.Labs)
	return m
}

// resume picks the task to go on with: the first one in progress, else the
// first that was not started.
func resume(all []view.Lab) *view.TaskLine {
	for _, want := range []view.State{view.InProgress, view.NotStarted} {
		for _, lab := range all {
			for i := range lab.Tasks {
				if lab.Tasks[i].State == want {
					return &lab.Tasks[i]
				}
			}
		}
	}
	return nil
}

func labView(lab study.LabView, lang labs.Lang) view.Lab {
	v := view.Lab{
		Name:    lab.Name,
		Path:    labPath(lab.Name),
		Title:   lab.Title.In(lang),
		Summary: lab.Summary.In(lang),
		Solved:  lab.Solved,
	}
	for i, t := range lab.Tasks {
		v.Tasks = append(v.Tasks, view.TaskLine{
			Number:     i + 1,
			Path:       taskPath(t.Ref),
			Title:      t.Title.In(lang),
			Difficulty: t.Difficulty,
			Minutes:    t.Minutes,
			State:      stateOf(t.Progress),
			Earned:     t.Progress.Best,
			Total:      t.Progress.Total,
		})
	}
	return v
}

func stateOf(p study.Progress) view.State {
	switch {
	case p.Solved != nil:
		return view.Solved
	case p.Started != nil || p.Attempts > 0:
		return view.InProgress
	default:
		return view.NotStarted
	}
}

func labPath(name string) string { return "/labs/" + name }

func taskPath(ref labs.Ref) string { return labPath(ref.Lab) + "/tasks/" + ref.Task }
