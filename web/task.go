package web

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web/view"
)

// Notices that a page shows once, after the action that led to it. Each is the
// ID of its text.
const (
	noticeStarted = "start.done"
	noticeReset   = "reset.done"
)

func refOf(r *http.Request) labs.Ref {
	return labs.Ref{Lab: chi.URLParam(r, "lab"), Task: chi.URLParam(r, "task")}
}

func (h *Handler) task(w http.ResponseWriter, r *http.Request) {
	h.showTask(w, r, http.StatusOK, h.takeNotice(w, r))
}

func (h *Handler) showTask(w http.ResponseWriter, r *http.Request, status int, notice *view.Notice) {
	v, err := h.study.Open(r.Context(), study.Local, refOf(r))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	titles, err := h.titles(r.Context())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	p := h.page(r)
	m := h.taskView(p, languageOf(r), v, titles)
	m.Notice = notice
	p.Title = m.Title
	p.Path = m.Path
	h.render(w, r, status, view.TaskPage(p, m))
}

// titles names every task, for the links to the neighbours.
func (h *Handler) titles(ctx context.Context) (map[labs.Ref]labs.Text, error) {
	o, err := h.study.Overview(ctx, study.Local)
	if err != nil {
		return nil, err
	}
	out := make(map[labs.Ref]labs.Text)
	for _, lab := range o.Labs {
		for _, t := range lab.Tasks {
			out[t.Ref] = t.Title
		}
	}
	return out, nil
}

// act handles a form that does something with a task: it leads back to the
// task's page, which shows what came of it. A failure is shown on that page
// too. Both ways serve a browser without scripts, and a script picks the
// regions that it replaces from the same page.
func (h *Handler) act(notice string, do func(context.Context, study.Learner, labs.Ref) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := actionContext(r)
		defer cancel()
		// The action may outlast the server's limits for pages, and a read
		// limit that passes would end the request's context.
		control := http.NewResponseController(w)
		if err := control.SetWriteDeadline(time.Now().Add(actionTimeout + pageTimeout)); err != nil {
			h.log.WarnContext(ctx, "write deadline not extended", "err", err)
		}
		if err := control.SetReadDeadline(time.Time{}); err != nil {
			h.log.WarnContext(ctx, "read deadline not lifted", "err", err)
		}
		ref := refOf(r)
		if err := do(ctx, study.Local, ref); err != nil {
			problem := h.explain(r, err)
			if problem.Code == study.CodeNotFound {
				h.notFound(w, r)
				return
			}
			text := h.texts.Message(languageOf(r), problem.Message)
			h.showTask(w, r, problem.HTTP, &view.Notice{Bad: true, Text: text})
			return
		}
		if notice != "" {
			keep(w, noticeCookie, notice, 60)
		}
		http.Redirect(w, r, taskPath(ref), http.StatusSeeOther)
	}
}

// actionContext lets an action go on when its page is reloaded or closed, since
// a half-done reset helps nobody and a grading is kept; it ends with the server.
func actionContext(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), actionTimeout)
	life, ok := r.Context().Value(lifeKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (h *Handler) grade(ctx context.Context, learner study.Learner, ref labs.Ref) error {
	_, err := h.study.Grade(ctx, learner, ref)
	return err
}

// takeNotice returns the notice that an action left for its page, once.
func (h *Handler) takeNotice(w http.ResponseWriter, r *http.Request) *view.Notice {
	c, err := r.Cookie(noticeCookie)
	if err != nil {
		return nil
	}
	keep(w, noticeCookie, "", -1)
	switch c.Value {
	case noticeStarted, noticeReset:
		return &view.Notice{Text: h.texts.Render(languageOf(r), c.Value, nil)}
	default:
		return nil
	}
}
