package web

import (
	"testing"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/web/view"
)

func TestALiveLookShowsOverAGradedRowOnlyWhatItKnowsBetter(t *testing.T) {
	settling, probe := grader.Msg("status.settling"), grader.Msg("probe.onCheck")
	for name, test := range map[string]struct {
		graded view.Verdict
		live   grader.Result
		want   bool
	}{
		"nothing graded":                    {"", grader.Result{Verdict: grader.Pending, Reason: probe}, true},
		"a pass that broke":                 {view.Pass, grader.Result{Verdict: grader.Fail}, true},
		"a pass that settles anew":          {view.Pass, grader.Result{Verdict: grader.Pending, Reason: settling}, false},
		"a pass that was probed":            {view.Pass, grader.Result{Verdict: grader.Pending, Reason: probe}, false},
		"a pass that cannot be looked at":   {view.Pass, grader.Result{Verdict: grader.Error}, false},
		"a failure that was mended":         {view.Fail, grader.Result{Verdict: grader.Pass}, true},
		"a failure whose Pod starts anew":   {view.Fail, grader.Result{Verdict: grader.Pending, Reason: settling}, true},
		"a failure that only a probe shows": {view.Fail, grader.Result{Verdict: grader.Pending, Reason: probe}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := saysMore(test.live, test.graded); got != test.want {
				t.Errorf("saysMore = %t, want %t", got, test.want)
			}
		})
	}
}
