//go:build browser

package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/podproof/podproof/labs"
)

// sidecar is a task that begins with nothing; ambassador begins with objects.
func sidecar() labs.Ref    { return labs.Ref{Lab: "ckad-multi", Task: "native-sidecar"} }
func ambassador() labs.Ref { return labs.Ref{Lab: "ckad-multi", Task: "ambassador"} }

func at(ref labs.Ref) string { return "/labs/" + ref.Lab + "/tasks/" + ref.Task }

// check presses Check and waits for the attempt of this number.
func (b *tab) check(number int) {
	b.Helper()
	b.click("#check-button")
	b.await(fmt.Sprintf("document.querySelectorAll('.attempt-list li').length === %d && !document.querySelector('.htmx-request')", number), 2*time.Minute)
}

// reset begins the task anew by the page's own means.
func (b *tab) reset() {
	b.Helper()
	eval[any](b, "document.querySelector('.notice')?.remove()")
	b.do(chromedp.Click(chromedp.CSS(".workspace .ask > summary")), chromedp.Click(chromedp.CSS(".workspace .ask button")))
	b.await("document.querySelector('.notice')?.getAttribute('role') === 'status'", 2*time.Minute)
}

func TestALearnerSolvesATaskAndIsToldOfAMistake(t *testing.T) {
	data := t.TempDir()
	s := start(t, data)
	b := open(t, s)
	b.allowed = "/live" // out of reach while the server restarts

	b.do(chromedp.Navigate(s.url))
	b.shot("home")
	b.click(fmt.Sprintf("a[href=%q]", at(sidecar())))
	b.await("location.pathname === '"+at(sidecar())+"'", 10*time.Second)
	if prompt := b.text(".sheet"); !strings.Contains(prompt, "web-logs") {
		t.Fatalf("the prompt: %q", prompt)
	}
	checks := eval[int](b, "document.querySelectorAll('.check').length")
	if checks == 0 {
		t.Fatal("no checks are shown before the first grading")
	}
	b.shot("task-new")

	b.reset()
	b.check(1)
	if got := eval[int](b, "document.querySelectorAll('.check.verdict-pass').length"); got != 0 {
		t.Errorf("doing nothing passed %d checks", got)
	}

	inst := s.instance(t, sidecar())
	s.kubectl(t, inst.Answer.Text, "apply", "-n", inst.Namespace, "-f", "-")
	b.check(2)
	// A live look from before the grading may cover a row for an instant.
	b.await(fmt.Sprintf("document.querySelectorAll('.check.verdict-pass').length === %d", checks), 5*time.Second)
	b.await("document.querySelector('#task-state .verdict-pass') && document.querySelector('.proved')", time.Second)
	b.shot("task-solved")

	s.stop(t)
	s = start(t, data)
	b.allow(s)
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	if got := b.text("#task-state"); !strings.Contains(got, "Solved") {
		t.Errorf("after a restart the task is %q", got)
	}

	b.reset()
	wrong, err := inst.Case("rejected/plain-init.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, wrong.Text, "apply", "-n", inst.Namespace, "-f", "-")
	b.check(3)
	if got := b.text("#check-native"); !strings.Contains(got, "Not right") || !strings.Contains(got, "restartPolicy") {
		t.Errorf("the check on the mistake says %q", got)
	}
	if got := eval[int](b, "document.querySelectorAll('#check-shared.verdict-pass').length"); got != 1 {
		t.Errorf("the check on what is right says %q", b.text("#check-shared"))
	}
	if got := b.text("#task-state"); !strings.Contains(got, "Solved") {
		t.Errorf("a solved task stays solved, but it is %q", got)
	}
	b.shot("task-wrong")
	b.inEveryDress("task-wrong")
	b.reset()
}

func TestStartSetsTheTaskUp(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.do(chromedp.Navigate(s.url + at(ambassador())))
	if !eval[bool](b, "document.querySelector('#check-button').disabled") {
		t.Error("the task can be checked before its start")
	}
	b.shot("task-before-start")
	b.click(".start button")
	b.await("document.querySelector('.notice') && !document.querySelector('.start')", time.Minute)
	if eval[bool](b, "document.querySelector('#check-button').disabled") {
		t.Error("the task cannot be checked after its start")
	}
	s.kubectl(t, "", "get", "-n", ambassador().Lab, "service/stock")
	b.reset()
}

func TestLanguageAndAppearanceAreKept(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	b.click("button[name=lang][value=ja]")
	b.await("document.documentElement.lang === 'ja'", 10*time.Second)
	if got := eval[string](b, "location.pathname"); got != at(sidecar()) {
		t.Errorf("the choice led to %s", got)
	}
	b.click("button[name=theme][value=dark]")
	b.await("document.documentElement.dataset.theme === 'ink'", 10*time.Second)
	b.do(chromedp.Navigate(s.url))
	if got := b.text("main"); !strings.Contains(got, "未着手") {
		t.Errorf("another page is not in Japanese: %s", got)
	}
	b.await("document.documentElement.dataset.theme === 'ink'", time.Second)
	b.click("button[name=theme][value=system]")
	b.await("!('theme' in document.documentElement.dataset)", 10*time.Second)
}

func TestPagesWorkWithoutScripts(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(s.url+at(sidecar())), chromedp.Click(chromedp.CSS("#hint-button")), chromedp.WaitVisible(chromedp.CSS(".hints li")),
		chromedp.Click(chromedp.CSS("#check-button")), chromedp.WaitVisible(chromedp.CSS(".attempt-list li")))
}

func TestEverythingIsReachedByKeyboard(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.do(chromedp.Navigate(s.url+at(sidecar())), chromedp.KeyEvent("\t"))
	if got := eval[string](b, "document.activeElement.className"); got != "skip" {
		t.Errorf("the first stop is %q, not the way past the header", got)
	}
	want := map[string]bool{"check-button": false, "hint-button": false}
	for range 60 {
		b.do(chromedp.KeyEvent("\t"))
		want[eval[string](b, "document.activeElement.id")] = true
		if eval[bool](b, "document.activeElement !== document.body && getComputedStyle(document.activeElement).outlineStyle === 'none'") {
			t.Errorf("no visible focus on %s", eval[string](b, "document.activeElement.outerHTML.slice(0, 120)"))
		}
	}
	for id, reached := range want {
		if !reached {
			t.Errorf("the keyboard does not reach %s", id)
		}
	}
}

// TestNothingElseMovesWhenChecksChange: the button, the task and the rows'
// first line stay where they are while a grading runs and when it ends.
func TestNothingElseMovesWhenChecksChange(t *testing.T) {
	s := start(t, t.TempDir())
	b := open(t, s)
	b.do(chromedp.Navigate(s.url + at(sidecar())))
	const places = `JSON.stringify(["#check-button", "h1", ".sheet", ".help", ".check .icon", ".check h3"].map((s) => {
		const r = document.querySelector(s).getBoundingClientRect();
		return [s, r.x, r.y + scrollY, s.startsWith(".check ") ? 0 : r.width];
	}))`
	before := eval[string](b, places)
	b.click("#check-button")
	b.await("document.querySelector('.htmx-request')", 5*time.Second)
	if during := eval[string](b, places); during != before {
		t.Errorf("while grading:\n%s\n%s", before, during)
	}
	b.shot("task-grading")
	b.await("document.querySelector('.attempt-list li')", 2*time.Minute)
	if after := eval[string](b, places); after != before {
		t.Errorf("after grading:\n%s\n%s", before, after)
	}
	if got := eval[string](b, "document.activeElement.id"); got != "check-button" {
		t.Errorf("the focus went to %q", got)
	}
}
