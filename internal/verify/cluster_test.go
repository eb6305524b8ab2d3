//go:build cluster

package verify_test

import (
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/internal/verify"
	"github.com/podproof/podproof/labs"
)

func TestATaskOfTheCatalogueIsProvenAndNothingStaysBehind(t *testing.T) {
	path := os.Getenv("PODPROOF_TEST_KUBECONFIG")
	if path == "" {
		t.Fatal("PODPROOF_TEST_KUBECONFIG names no kubeconfig; it is set by make test")
	}
	admin, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	texts, err := text.New()
	if err != nil {
		t.Fatal(err)
	}
	// A manifest task of many cases that needs no Pod to run, so that the
	// program which shell answers call as kubectl matters only to some.
	events := 0
	result, err := verify.Run(t.Context(), admin, catalog, verify.Options{
		Only:     "ckad-design/cronjob-fields",
		Variants: 2,
		Kubectl:  "/bin/false",
		Message:  func(m grader.Message) string { return texts.Render(labs.English, m.ID, m.Args) },
		Progress: func(verify.Event) { events++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	task := result.Tasks[0]
	if events != 2*len(task.Cases) {
		t.Errorf("%d events for %d cases, want two for each", events, len(task.Cases))
	}
	for _, c := range task.Cases {
		want := verify.OK
		if strings.HasSuffix(c.File, ".sh") {
			want = verify.Unapplied // kubectl fails here
		}
		if c.Outcome != want {
			t.Errorf("%s %s: %s: %s", c.Kind, c.File, c.Outcome, c.Problem)
		}
	}
	// Other runs may work on the same cluster: only this one's namespaces count.
	mine := map[string]bool{}
	for _, c := range task.Cases {
		if c.Report != nil {
			mine[c.Report.Namespace] = true
		}
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		list, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, ns := range list.Items {
			if mine[ns.Name] && ns.DeletionTimestamp == nil {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d namespaces stay behind", left)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
