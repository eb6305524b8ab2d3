// Package view holds the pages: templates and the models that they show. It
// knows nothing of the product beyond these models, so a page's HTML is a
// function of its model alone.
package view

import "time"

// Page is what the frame around every page needs.
type Page struct {
	// Lang is a BCP 47 tag.
	Lang string
	// Langs are the languages offered, in order.
	Langs []Language
	// Theme is the theme that the learner chose, or "" to follow the system.
	Theme Theme
	// Path is the page's own path, to come back to after a change of settings.
	Path  string
	Title string
	// T returns a text of the catalogue; pairs are names and values in turn.
	T       func(id string, pairs ...string) string
	Assets  Assets
	Cluster Cluster
}

// Language is a language that can be chosen.
type Language struct {
	Tag string
	// Name is the language's name in itself; Short is for narrow places.
	Name, Short string
}

// Theme is a theme's name in the style sheet.
type Theme string

// The themes.
const (
	System Theme = ""
	Light  Theme = "paper"
	Dark   Theme = "ink"
)

// Assets are the paths of the built files.
type Assets struct{ Style, Script, Icon string }

// Cluster is how far the cluster is.
type Cluster struct {
	Ready, Failed bool
	// Name is for people: "Kubernetes v1.35.4".
	Name  string
	Steps []Step
	// Problem says what failed, and what to do about it.
	Problem string
}

// Phase names what a page shows of the cluster, so that one that asks again
// can say what it shows already.
func (c Cluster) Phase() string {
	switch {
	case c.Ready:
		return "ready"
	case c.Failed:
		return "failed"
	default:
		return "starting"
	}
}

// Step is one step on the way to a cluster.
type Step struct {
	Text    string
	Done    bool
	Problem string
}

// Moment is a point in time, for people and for programs.
type Moment struct {
	Text string
	ISO  string
}

// At shows t on the clock; another day than now's gets its date too.
func At(t, now time.Time) Moment {
	t = t.In(now.Location())
	layout := "15:04"
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		layout = "2006-01-02 15:04"
	}
	return Moment{Text: t.Format(layout), ISO: t.Format(time.RFC3339)}
}
