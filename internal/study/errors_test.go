package study_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
)

func TestAClusterThatCannotBeUsedIsExplainedByItsKind(t *testing.T) {
	texts, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		err  error
		code study.Code
		http int
	}{
		{study.ErrUnavailable, study.CodeClusterUnavailable, 503},
		{study.ErrForbidden, study.CodeClusterForbidden, 502},
		{study.ErrTimeout, study.CodeClusterTimeout, 504},
		{study.ErrMissing, study.CodeClusterMissing, 502},
		{study.ErrRefused, study.CodeClusterRefused, 502},
		{errors.New("of no kind"), study.CodeClusterUnavailable, 503},
	} {
		t.Run(string(tt.code), func(t *testing.T) {
			cause := fmt.Errorf("dial 192.0.2.1: %w", tt.err)
			w := &away{err: cause}
			s, ref := newService(t, w), withSetup(t)
			problem := study.Explain(s.Start(t.Context(), ada, ref))
			if problem.Code != tt.code || problem.HTTP != tt.http || problem.Exit != 5 {
				t.Errorf("explained as %+v, want code %s, HTTP %d and exit 5", problem, tt.code, tt.http)
			}
			for _, lang := range []labs.Lang{labs.English, labs.Japanese} {
				if said := texts.Message(lang, problem.Message); said == problem.Message.ID || !strings.Contains(said, cause.Error()) {
					t.Errorf("%s: %q does not say why", lang, said)
				}
			}
		})
	}
}
