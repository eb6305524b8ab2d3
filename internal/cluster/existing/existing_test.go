package existing_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/existing"
)

// kubeconfig writes a file with the contexts, all of one server; the first one
// is current.
func kubeconfig(t *testing.T, server string, contexts ...string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "t"}
	for _, name := range contexts {
		config.Contexts[name] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	}
	if len(contexts) > 0 {
		config.CurrentContext = contexts[0]
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestContextIsNeverChosenByAccident(t *testing.T) {
	const server = "https://127.0.0.1:1"
	one, two, none := kubeconfig(t, server, "prod"), kubeconfig(t, server, "prod", "lab"), kubeconfig(t, server)
	tests := []struct {
		name      string
		env, file string
		context   string
		wantErr   string // "" for success
	}{
		{name: "file and context named", file: two, context: "lab"},
		{name: "only context of a named file", file: one},
		{name: "context named in the user's own file", env: two, context: "lab"},
		{name: "current context of a named file with several", file: two, wantErr: "name the one to use: lab, prod"},
		{name: "current context of the user's own file", env: two, wantErr: "current one is never taken; there are: lab, prod"},
		{name: "only context of the user's own file", env: one, wantErr: "current one is never taken"},
		{name: "unknown context", file: two, context: "stage", wantErr: `no context "stage"; there are: lab, prod`},
		{name: "no contexts", file: none, wantErr: "no contexts"},
		{name: "no file", file: "/nonexistent/config", wantErr: "/nonexistent/config"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tt.env)
			p, err := existing.New(existing.Options{Kubeconfig: tt.file, Context: tt.context})
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error is %v, want one that says %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			raw, err := p.Kubeconfig(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := clientcmd.Load(raw)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.context
			if want == "" {
				want = "prod"
			}
			if len(got.Contexts) != 1 || got.CurrentContext != want {
				t.Errorf("kubeconfig has %d contexts, current %q; want only %q", len(got.Contexts), got.CurrentContext, want)
			}
		})
	}
}

// The server answers as an API server with the given fault would.
func TestEnsureSaysWhatIsWrongWithTheCluster(t *testing.T) {
	status := func(code int, reason string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
		}
	}
	serve := func(version, nodes string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.URL.Path == "/version":
				fmt.Fprintf(w, `{"gitVersion":%q}`, version)
			case strings.HasSuffix(r.URL.Path, "/nodes") && nodes != "":
				fmt.Fprintf(w, `{"kind":"NodeList","apiVersion":"v1","items":[%s]}`, nodes)
			default:
				status(http.StatusForbidden, "Forbidden")(w, r)
			}
		}
	}
	node := func(ready string) string {
		return fmt.Sprintf(`{"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":%q,"message":"kubelet is asleep"}]}}`, ready)
	}
	tests := []struct {
		name    string
		handler http.Handler // nil: nothing listens
		state   cluster.State
		wantErr string
	}{
		{"ready", serve("v1.35.4", node("True")), cluster.Ready, ""},
		{"ready as far as one may see", serve("v1.35.4", ""), cluster.Ready, ""},
		{"a vendor's version", serve("v1.33.1-gke.100+x", node("True")), cluster.Ready, ""},
		{"node not ready", serve("v1.35.4", node("False")), cluster.Starting, "node n1 is not Ready: kubelet is asleep"},
		{"too old", serve("v1.27.3", node("True")), cluster.Broken, "Kubernetes v1.27.3 is too old"},
		{"unauthorized", status(http.StatusUnauthorized, "Unauthorized"), cluster.Broken, "does not accept these credentials"},
		{"nothing listens", nil, cluster.Broken, "nothing listens at http://127.0.0.1:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			if tt.handler == nil {
				server.Close()
			}
			p, err := existing.New(existing.Options{Kubeconfig: kubeconfig(t, server.URL, "lab"), ReadyTimeout: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Status(t.Context())
			if err != nil || got.State != tt.state {
				t.Errorf("status is %+v, %v; want %s", got, err, tt.state)
			}
			err = p.Ensure(t.Context(), nil)
			switch {
			case tt.wantErr == "" && err != nil:
				t.Errorf("Ensure: %v", err)
			case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr) || !strings.Contains(err.Error(), `context "lab"`)):
				t.Errorf("Ensure returned %v, want an error that says %q and names the context", err, tt.wantErr)
			}
		})
	}
}

func TestCertificateOfAnotherClusterIsNamed(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	p, err := existing.New(existing.Options{Kubeconfig: kubeconfig(t, server.URL, "lab")})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "is not the one that the kubeconfig expects") {
		t.Errorf("Ensure returned %v", err)
	}
}

func TestKubeconfigCarriesTheContentsOfItsFiles(t *testing.T) {
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(ca, []byte("certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config")
	text := `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: lab, context: {cluster: c, user: u}}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := existing.New(existing.Options{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := p.Kubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(config.Clusters["c"].CertificateAuthorityData); got != "certificate" {
		t.Errorf("certificate-authority-data is %q", got)
	}
}

func TestImagesOfAnExistingClusterAreNotOurs(t *testing.T) {
	p, err := existing.New(existing.Options{Kubeconfig: kubeconfig(t, "https://127.0.0.1:1", "lab")})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.LoadImages(t.Context(), []string{"x.tar"}, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("LoadImages returned %v", err)
	}
}
