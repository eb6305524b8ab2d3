package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/podproof/podproof/internal/kube"
	"github.com/podproof/podproof/internal/study"
)

func TestTheClustersErrorsAreSaidInTheUseCasesTerms(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want error
	}{
		{kube.ErrUnreachable, study.ErrUnavailable},
		{kube.ErrForbidden, study.ErrForbidden},
		{kube.ErrTimeout, study.ErrTimeout},
		{kube.ErrNotFound, study.ErrMissing},
		{kube.ErrRefused, study.ErrRefused},
		{kube.ErrImmutable, study.ErrRefused},
		{kube.ErrForeign, study.ErrRefused},
	} {
		cause := fmt.Errorf("apply: %w", tt.err)
		got := explained(cause)
		if !errors.Is(got, tt.want) || !errors.Is(got, tt.err) || got.Error() != cause.Error() {
			t.Errorf("%v became %v", cause, got)
		}
	}
	if got := explained(context.Canceled); study.Explain(got).Code != study.CodeCanceled {
		t.Errorf("what was called off is explained as %+v", study.Explain(got))
	}
}

func TestAClusterThatDoesNotAnswerIsUnavailable(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil { // nobody listens there now
		t.Fatal(err)
	}
	client, err := kube.New(&rest.Config{Host: "https://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	if p := study.Explain(explained(client.Apply(t.Context(), "a", manifest))); p.HTTP != 503 || p.Exit != 5 {
		t.Errorf("explained as %+v", p)
	}
}
