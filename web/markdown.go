package web

import (
	"bytes"
	"context"
	"html/template"
	"regexp"
	"strings"

	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	highlighting "github.com/yuin/goldmark-highlighting/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/podproof/podproof/web/view"
)

// markdown turns the texts of labs into HTML. Labs may come from anybody, so
// what comes out is cleaned whatever went in.
type markdown struct {
	convert goldmark.Markdown
	clean   *bluemonday.Policy
}

func newMarkdown() *markdown {
	// No images: each would be a request to somewhere else.
	clean := bluemonday.NewPolicy()
	clean.AllowElements("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "strong", "em", "del", "kbd", "blockquote", "details", "summary")
	clean.AllowElements("pre", "code", "span")
	clean.AllowLists()
	clean.AllowTables()
	clean.AllowAttrs("href").OnElements("a")
	clean.AllowURLSchemes("http", "https")
	clean.AllowRelativeURLs(true)
	clean.RequireParseableURLs(true)
	clean.RequireNoReferrerOnLinks(true)
	clean.AllowAttrs("class").Matching(regexp.MustCompile(`^[a-z0-9 -]+$`)).OnElements("pre", "code", "span")
	return &markdown{
		convert: goldmark.New(
			goldmark.WithExtensions(
				extension.GFM,
				highlighting.NewHighlighting(highlighting.WithFormatOptions(chromahtml.WithClasses(true))),
			),
			goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(demote{}, 100))),
		),
		clean: clean,
	}
}

// renderer returns a function that renders one text for a page. Text that
// can't be converted is shown as it is.
func (m *markdown) renderer(p view.Page) func(string) template.HTML {
	frame := codeFrame(p)
	return func(source string) template.HTML {
		var b bytes.Buffer
		if err := m.convert.Convert([]byte(source), &b); err != nil {
			return template.HTML("<pre>" + template.HTMLEscapeString(source) + "</pre>")
		}
		return template.HTML(frame.Replace(m.clean.Sanitize(b.String())))
	}
}

// codeFrame gives code blocks a copy button and lets the keyboard scroll them.
// In cleaned HTML "<pre" can only be a tag: in text it is escaped.
func codeFrame(p view.Page) *strings.Replacer {
	var button strings.Builder
	// Writing to a Builder never fails.
	_ = view.CopyButton(p.T("copy.label"), p.T("copy.done"), p.T("copy.failed")).Render(context.Background(), &button)
	return strings.NewReplacer(
		"<pre", `<div class="code"><pre tabindex="0"`,
		"</pre>", "</pre>"+button.String()+"</div>",
	)
}

// demote makes room for the page's own title: a text's first level becomes
// the page's second.
type demote struct{}

func (demote) Transform(doc *ast.Document, _ gmtext.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if heading, ok := n.(*ast.Heading); ok {
			heading.Level = min(heading.Level+1, 6)
		}
	}
}
