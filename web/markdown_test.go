package web

import (
	"strings"
	"testing"

	"github.com/podproof/podproof/web/view"
)

func TestTextsOfLabsAreCleaned(t *testing.T) {
	render := newMarkdown().renderer(view.Page{T: func(id string, _ ...string) string { return id }})
	for name, c := range map[string]struct {
		source       string
		holds, lacks []string
	}{
		"a script":             {"<script>alert(1)</script>", nil, []string{"<script", "alert"}},
		"a handler":            {`<a href="/" onclick="x()">y</a>`, nil, []string{"onclick"}},
		"a script's address":   {"[x](javascript:alert(1))", nil, []string{"javascript:"}},
		"an image elsewhere":   {"![x](https://example.org/x.png)", nil, []string{"<img", "example.org/x.png"}},
		"a style":              {`<p style="position:fixed">x</p>`, nil, []string{"style="}},
		"code is highlighted":  {"```yaml\nkind: Pod\n```", []string{`class="chroma"`, `<span class="nt">kind</span>`, "data-copy", `tabindex="0"`}, nil},
		"code without a name":  {"```\n<pre> a & b\n```", []string{"&lt;pre&gt; a &amp; b", "data-copy"}, nil},
		"inline code":          {"run `kubectl`", []string{"<code>kubectl</code>"}, []string{"data-copy"}},
		"a title makes room":   {"# Why\n\n## How", []string{">Why</h2>", ">How</h3>"}, []string{"<h1"}},
		"a table":              {"| a | b |\n|---|---|\n| 1 | 2 |", []string{"<table>", "<td>1</td>"}, nil},
		"a link to the manual": {"[docs](https://kubernetes.io/docs/)", []string{`href="https://kubernetes.io/docs/"`, "noreferrer"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(render(c.source))
			for _, want := range c.holds {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q: %s", want, got)
				}
			}
			for _, bad := range c.lacks {
				if strings.Contains(got, bad) {
					t.Errorf("holds %q: %s", bad, got)
				}
			}
		})
	}
}
