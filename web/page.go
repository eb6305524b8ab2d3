package web

import (
	"bytes"
	"net/http"

	"github.com/a-h/templ"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web/view"
)

// page returns the frame for a request: language, theme, texts.
func (h *Handler) page(r *http.Request) view.Page {
	lang := languageOf(r)
	p := view.Page{
		Lang:   string(lang),
		Theme:  themeOf(r),
		Path:   r.URL.Path,
		Assets: h.files.paths,
		Langs: []view.Language{
			{Tag: string(labs.English), Name: "English", Short: "EN"},
			{Tag: string(labs.Japanese), Name: "日本語", Short: "日本語"},
		},
		T: func(id string, pairs ...string) string {
			return h.texts.Message(lang, grader.Msg(id, pairs...))
		},
	}
	// The address of an action is no page to come back to.
	if r.Method != http.MethodGet {
		p.Path = "/"
	}
	p.Cluster = h.cluster(p, h.study.Cluster())
	return p
}

// cluster turns the cluster's state into what pages show.
func (h *Handler) cluster(p view.Page, s study.ClusterState) view.Cluster {
	out := view.Cluster{
		Ready:   s.Ready(),
		Failed:  s.Phase == study.ClusterFailed,
		Problem: s.Problem,
		Name:    "Kubernetes",
	}
	if s.Version != "" {
		out.Name += " " + s.Version
	}
	for _, step := range s.Steps {
		// The step's own text is English and may know more than its name does.
		text := step.Text
		if id := "cluster.step." + step.ID; p.Lang != string(labs.English) && h.texts.Has(id) {
			text = p.T(id)
		}
		out.Steps = append(out.Steps, view.Step{Text: text, Done: step.Done, Problem: step.Problem})
	}
	return out
}

// render sends a page. It is built in full first, so that a failure becomes an
// error page instead of half a page.
func (h *Handler) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	if r.Context().Err() != nil {
		return // the browser has gone
	}
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		h.log.ErrorContext(r.Context(), "page not rendered", "path", r.URL.Path, "err", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// A failed write means that the browser has gone.
	_, _ = b.WriteTo(w)
}

// errorPage sends a page about a failure. text may be "" where the catalogue's
// words for the status say enough.
func (h *Handler) errorPage(w http.ResponseWriter, r *http.Request, status int, text string) {
	p := h.page(r)
	m := h.problemOf(p, status, text)
	p.Title = m.Title
	// A fragment's request gets the whole page's content in place.
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Retarget", "#main")
		w.Header().Set("HX-Reselect", "#main")
		w.Header().Set("HX-Reswap", "outerHTML show:window:top")
	}
	h.render(w, r, status, view.ErrorPage(p, m))
}

// fail is the edge where an error of the learner's use cases is logged and
// shown.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	problem := h.explain(r, err)
	text := ""
	if problem.Code != study.CodeNotFound {
		text = h.texts.Message(languageOf(r), problem.Message)
	}
	h.errorPage(w, r, problem.HTTP, text)
}

// explain logs an error, as loud as it deserves, and returns what to show.
func (h *Handler) explain(r *http.Request, err error) study.Problem {
	problem := study.Explain(err)
	log := h.log.InfoContext
	if problem.HTTP >= http.StatusInternalServerError && r.Context().Err() == nil {
		log = h.log.ErrorContext
	}
	log(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "code", problem.Code, "err", err)
	return problem
}

func (h *Handler) notFound(w http.ResponseWriter, r *http.Request) {
	h.errorPage(w, r, http.StatusNotFound, "")
}

func (h *Handler) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	h.errorPage(w, r, http.StatusMethodNotAllowed, "")
}
