//go:build browser

package browser_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// axe is the accessibility checker from the pages' own node_modules.
const axe = "../../web/assets/node_modules/axe-core/axe.min.js"

// dress is one way to look at a page.
type dress struct {
	lang, theme string
	width       int64
}

func (d dress) String() string { return fmt.Sprintf("%s-%s-%d", d.lang, d.theme, d.width) }

// dresses pair every language, theme and width with each other at least once.
func dresses() []dress {
	return []dress{{"en", "light", 1280}, {"en", "dark", 360}, {"ja", "dark", 1280}, {"ja", "light", 360}}
}

// inEveryDress looks at the page in both languages and themes, on a laptop and
// on a phone: nothing serious for axe-core, nothing wider than the window.
func (b *tab) inEveryDress(name string) {
	b.Helper()
	script, err := os.ReadFile(axe)
	if err != nil {
		b.Fatalf("%v; `npm ci` in web/assets brings it", err)
	}
	address := eval[string](b, "location.href")
	seen := map[string]bool{}
	for _, d := range dresses() {
		b.wear(d, address)
		if eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
			b.Errorf("%s-%s: wider than the window", name, d)
		}
		eval[any](b, string(script)+";0")
		for _, f := range eval[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations
			.filter((v) => v.impact === "serious" || v.impact === "critical")
			.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join("; ")))`) {
			if !seen[f] {
				b.Errorf("%s-%s: %s", name, d, f)
			}
			seen[f] = true
		}
		b.shot(name + "-" + d.String())
	}
	b.wear(dresses()[0], address)
}

// wear chooses language and theme as the page's own form does, sets the width
// and opens the address.
func (b *tab) wear(d dress, address string) {
	b.Helper()
	eval[any](b, fmt.Sprintf(`(async () => {
		for (const [name, value] of [["lang", %q], ["theme", %q]]) {
			await fetch("/settings", {method: "POST", body: new URLSearchParams({[name]: value, back: "/healthz"})});
		}
	})()`, d.lang, d.theme))
	var options []chromedp.EmulateViewportOption
	if d.width < 500 {
		options = append(options, chromedp.EmulateMobile)
	}
	b.do(chromedp.EmulateViewport(d.width, 900, options...), chromedp.Navigate(address))
}

func TestPagesAreSoundInEveryDress(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.allowed = "404"
	for name, path := range map[string]string{
		"home":      "/",
		"lab":       "/labs/ckad-multi",
		"task":      at(sidecar()),
		"task-wait": at(ambassador()),
		"cluster":   "/cluster",
		"not-found": "/nowhere",
	} {
		b.do(chromedp.Navigate(s.url + path))
		b.inEveryDress(name)
	}
	// Everything opened that can be.
	b.do(chromedp.Navigate(s.url+at(sidecar())), chromedp.Click(chromedp.CSS("#hint-button")), chromedp.WaitVisible(chromedp.CSS(".hints li")),
		chromedp.Click(chromedp.CSS(".help .ask > summary")), chromedp.Click(chromedp.CSS(".help .ask button")), chromedp.WaitVisible(chromedp.CSS(".solution pre")))
	b.inEveryDress("task-solution")
}

// TestAFirstVisitIsLight holds what the first task page may weigh: 150 KiB, as
// it comes over the wire.
func TestAFirstVisitIsLight(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	total := 0.0
	if err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*network.EventLoadingFinished); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			total += e.EncodedDataLength
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	b.await("document.readyState === 'complete'", 10*time.Second)
	if blocking := eval[int](b, "document.querySelectorAll('script:not([type=module], [defer], [async])').length"); blocking != 0 {
		t.Errorf("%d scripts block the page", blocking)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t.Logf("a first visit is %.0f bytes", total)
	if total == 0 || total > 150<<10 {
		t.Errorf("a first visit weighs %.0f bytes, more than 150 KiB", total)
	}
}
