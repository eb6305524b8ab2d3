// Package text holds the message catalogues: every text that podproof shows,
// in every language, by ID and named values.
package text

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"

	"github.com/podproof/podproof/labs"
)

// Each file is catalog/LANGUAGE/AREA.yaml: a flat map from message ID to text.
//
//go:embed catalog
var catalogs embed.FS

// Catalog renders messages. It is safe for concurrent use.
type Catalog struct {
	localizers map[labs.Lang]*i18n.Localizer
	ids        map[labs.Lang]map[string]string
}

// New reads the embedded catalogues and reports every problem in them: a file
// that does not parse, an ID that stands twice, a text that is no template.
func New() (*Catalog, error) {
	bundle := i18n.NewBundle(language.English)
	c := &Catalog{
		localizers: make(map[labs.Lang]*i18n.Localizer),
		ids:        make(map[labs.Lang]map[string]string),
	}
	var problems []error
	for _, lang := range labs.Langs() {
		texts, err := read(lang)
		problems = append(problems, err)
		var messages []*i18n.Message
		for id, text := range texts {
			messages = append(messages, &i18n.Message{ID: id, Other: text})
		}
		if err := bundle.AddMessages(language.Make(string(lang)), messages...); err != nil {
			problems = append(problems, fmt.Errorf("catalogue %s: %w", lang, err))
		}
		c.ids[lang] = texts
		c.localizers[lang] = i18n.NewLocalizer(bundle, string(lang))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return c, nil
}

func read(lang labs.Lang) (map[string]string, error) {
	all := make(map[string]string)
	var problems []error
	dir := path.Join("catalog", string(lang))
	files, err := fs.Glob(catalogs, path.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	for _, name := range files {
		raw, err := fs.ReadFile(catalogs, name)
		if err != nil {
			problems = append(problems, fmt.Errorf("read %s: %w", name, err))
			continue
		}
		var texts map[string]string
		if err := yaml.Unmarshal(raw, &texts); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			continue
		}
		for id, text := range texts {
			if _, twice := all[id]; twice {
				problems = append(problems, fmt.Errorf("%s: message %q stands in another file too", name, id))
			}
			all[id] = text
		}
	}
	return all, errors.Join(problems...)
}

// IDs lists the IDs that a language has, sorted.
func (c *Catalog) IDs(lang labs.Lang) []string {
	return slices.Sorted(maps.Keys(c.ids[lang]))
}

// Has reports whether a message exists in every language.
func (c *Catalog) Has(id string) bool {
	for _, lang := range labs.Langs() {
		if _, ok := c.ids[lang][id]; !ok {
			return false
		}
	}
	return true
}

// Render returns a message in lang. A message that the language lacks comes in
// English; an unknown ID comes as the ID and its values, so that a reason is
// never empty. A value that the message names and args lacks shows as
// "<no value>".
func (c *Catalog) Render(lang labs.Lang, id string, args map[string]string) string {
	l, ok := c.localizers[lang]
	if !ok {
		l = c.localizers[labs.English]
	}
	if _, known := c.ids[labs.English][id]; known {
		if s, err := l.Localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: args}); err == nil {
			return s
		}
	}
	var b strings.Builder
	b.WriteString(id)
	for _, k := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(&b, " %s=%s", k, args[k])
	}
	return b.String()
}

// Source returns a message's text with its actions, or "" where the language
// lacks it.
func (c *Catalog) Source(lang labs.Lang, id string) string { return c.ids[lang][id] }
