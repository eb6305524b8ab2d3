// Package web is the browser's side of podproof: pages, the requests that they
// make, and the built files that they load. It serves one learner on the
// machine itself and refuses requests from anywhere else.
package web

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
)

// Study is what pages need of the learner's use cases; study.Service has it.
type Study interface {
	Cluster() study.ClusterState
	Overview(ctx context.Context, learner study.Learner) (*study.Overview, error)
	Open(ctx context.Context, learner study.Learner, ref labs.Ref) (*study.TaskView, error)
	Start(ctx context.Context, learner study.Learner, ref labs.Ref) error
	Reset(ctx context.Context, learner study.Learner, ref labs.Ref) error
	Grade(ctx context.Context, learner study.Learner, ref labs.Ref) (*study.Attempt, error)
	RevealHint(ctx context.Context, learner study.Learner, ref labs.Ref) error
	Follow(ctx context.Context, learner study.Learner, ref labs.Ref) (marks <-chan struct{}, stop func(), err error)
	RevealSolution(ctx context.Context, learner study.Learner, ref labs.Ref) error
}

// Texts renders messages of the catalogue; text.Catalog has it.
type Texts interface {
	Render(lang labs.Lang, id string, args map[string]string) string
	Message(lang labs.Lang, m grader.Message) string
	Has(id string) bool
}

// Handler serves the whole site.
type Handler struct {
	study  Study
	texts  Texts
	files  *files
	log    *slog.Logger
	now    func() time.Time
	prompt *markdown
	routes http.Handler
}

// New returns the site. dist holds the built files at its root, as
// assets.Dist does below "dist"; where they have not been built the error says
// how to.
func New(s Study, texts Texts, dist fs.FS, log *slog.Logger) (*Handler, error) {
	built, err := loadFiles(dist)
	if err != nil {
		return nil, fmt.Errorf("load the browser's files: %w", err)
	}
	h := &Handler{study: s, texts: texts, files: built, log: log, now: time.Now, prompt: newMarkdown()}
	h.routes = h.router()
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.routes.ServeHTTP(w, r) }

func (h *Handler) router() http.Handler {
	r := chi.NewRouter()
	r.Use(h.recoverer, securityHeaders, h.loopbackOnly, h.sameOrigin, limitBody)
	r.NotFound(h.notFound)
	r.MethodNotAllowed(h.methodNotAllowed)

	r.Get("/assets/{file}", h.files.serve)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	// Not among the pages: it is sent bit by bit, and so never compressed.
	r.Get("/labs/{lab}/tasks/{task}/live", h.live)
	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(5, "text/html"), uncached)
		r.Get("/", h.home)
		r.Get("/cluster", h.clusterPage)
		r.Get("/cluster/band", h.clusterBand)
		r.Post("/settings", h.settings)
		r.Get("/labs/{lab}", h.lab)
		r.Route("/labs/{lab}/tasks/{task}", func(r chi.Router) {
			r.Get("/", h.task)
			r.Post("/start", h.act(noticeStarted, h.study.Start))
			r.Post("/reset", h.act(noticeReset, h.study.Reset))
			r.Post("/grade", h.act("", h.grade))
			r.Post("/hint", h.act("", h.study.RevealHint))
			r.Post("/solution", h.act("", h.study.RevealSolution))
		})
	})
	return r
}

// Timeouts of the server. A request may take as long as grading does; slow
// senders and idle connections may not.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	idleTimeout       = 2 * time.Minute
	pageTimeout       = 30 * time.Second
	// actionTimeout bounds grading and reset, which wait for the cluster.
	actionTimeout = 5 * time.Minute
)

// lifeKey finds the server's own context in a request's.
type lifeKey struct{}

// Server returns a server for the site with its limits set; the caller gives
// it a listener on a loopback address. Requests end when ctx does, and so do
// actions that go on after their page has gone.
func Server(ctx context.Context, handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      pageTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return context.WithValue(ctx, lifeKey{}, ctx) },
	}
}
