package web

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/podproof/podproof/web/view"
)

// securityHeaders are sent with every answer. The policy allows nothing but
// the site's own files: no inline script or style, no frame, no other origin.
func securityHeaders(next http.Handler) http.Handler {
	policy := strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"img-src 'self'",
		"connect-src 'self'",
		"form-action 'self'",
		"base-uri 'none'",
		"frame-ancestors 'none'",
	}, "; ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Not no-referrer: with it browsers send "Origin: null" for forms.
		head.Set("Referrer-Policy", "same-origin")
		head.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		next.ServeHTTP(w, r)
	})
}

// loopbackOnly refuses a request whose Host is not this machine's own name for
// itself: a page elsewhere whose name was made to resolve to 127.0.0.1.
func (h *Handler) loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			h.refuse(w, r, "podproof answers only on this machine: open http://127.0.0.1 with its port")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// sameOrigin refuses what another site's page sends. Reading is refused too
// where the browser names another origin, since some pages show the cluster.
func (h *Handler) sameOrigin(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, r, "the request came from another site's page")
	}))
	guarded := guard.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || u.Host != r.Host {
				h.refuse(w, r, "the request came from another site's page")
				return
			}
		}
		guarded.ServeHTTP(w, r)
	})
}

func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, why string) {
	h.log.WarnContext(r.Context(), "request refused", "why", why, "method", r.Method, "host", r.Host, "origin", r.Header.Get("Origin"))
	http.Error(w, why, http.StatusForbidden)
}

// maxBody is ample for every form of the site.
const maxBody = 16 << 10

func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// uncached keeps pages out of caches: they show how things stand now.
func uncached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "Cookie, Accept-Language")
		next.ServeHTTP(w, r)
	})
}

// recoverer turns a panic into a page and a line in the log.
func (h *Handler) recoverer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			h.log.ErrorContext(r.Context(), "handler panicked", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
			h.errorPage(w, r, http.StatusInternalServerError, "")
		}()
		next.ServeHTTP(w, r)
	})
}

// problemOf gives a status its words; a text given explains it better than
// the catalogue can.
func (h *Handler) problemOf(p view.Page, status int, text string) view.Problem {
	known := "error." + view.Number(status)
	if !h.texts.Has(known + ".title") {
		known = "error.500"
	}
	if text == "" {
		if !h.texts.Has(known + ".text") {
			known = "error.500"
		}
		text = p.T(known + ".text")
	}
	return view.Problem{Status: status, Title: p.T(known + ".title"), Text: text}
}
