package web

import (
	"errors"
	"net/http"
	"strings"

	"golang.org/x/text/language"

	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web/view"
)

// Cookies. Cookies of one host are shared by all its ports, so their names say
// whose they are.
const (
	langCookie   = "podproof_lang"
	themeCookie  = "podproof_theme"
	noticeCookie = "podproof_notice"
)

const year = 365 * 24 * 60 * 60

// settings keeps the learner's choice of language or appearance and leads back
// to the page where it was made.
func (h *Handler) settings(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		h.errorPage(w, r, status, "")
		return
	}
	if lang, ok := known(r.PostForm.Get("lang")); ok {
		keep(w, langCookie, string(lang), year)
	}
	switch r.PostForm.Get("theme") {
	case "system":
		keep(w, themeCookie, "", -1)
	case "light":
		keep(w, themeCookie, string(view.Light), year)
	case "dark":
		keep(w, themeCookie, string(view.Dark), year)
	}
	http.Redirect(w, r, localPath(r.PostForm.Get("back")), http.StatusSeeOther)
}

func keep(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// localPath lets a form lead to a path of this site and nowhere else.
func localPath(p string) string {
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.ContainsAny(p, "\\\r\n") {
		return "/"
	}
	return p
}

func known(tag string) (labs.Lang, bool) {
	for _, l := range labs.Langs() {
		if string(l) == tag {
			return l, true
		}
	}
	return "", false
}

// languageOf is the language that the learner chose, or the best of those that
// the browser asks for.
func languageOf(r *http.Request) labs.Lang {
	if c, err := r.Cookie(langCookie); err == nil {
		if lang, ok := known(c.Value); ok {
			return lang
		}
	}
	offered := labs.Langs()
	tags := make([]language.Tag, len(offered))
	for i, l := range offered {
		tags[i] = language.Make(string(l))
	}
	_, i := language.MatchStrings(language.NewMatcher(tags), r.Header.Get("Accept-Language"))
	return offered[i]
}

func themeOf(r *http.Request) view.Theme {
	c, err := r.Cookie(themeCookie)
	if err != nil {
		return view.System
	}
	switch t := view.Theme(c.Value); t {
	case view.Light, view.Dark:
		return t
	default:
		return view.System
	}
}
