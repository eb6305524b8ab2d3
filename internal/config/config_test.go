package config_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/podproof/podproof/internal/config"
)

func load(t *testing.T, args []string, env map[string]string) (config.Config, error) {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags := config.Bind(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags.Load(func(k string) string { return env[k] })
}

func TestLoadPrefersFlagThenEnvironmentThenDefault(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want config.Config
	}{
		{
			name: "defaults",
			env:  map[string]string{"HOME": "/home/ada"},
			want: config.Config{
				Data: "/home/ada/.local/share/podproof", Cache: "/home/ada/.cache/podproof",
				Addr: "127.0.0.1:8080", Cluster: "auto", ClusterName: "podproof",
			},
		},
		{
			name: "environment",
			env: map[string]string{
				"XDG_DATA_HOME": "/data", "XDG_CACHE_HOME": "/cache", "PODPROOF_ADDR": "127.0.0.1:0",
				"PODPROOF_CLUSTER": "kind", "PODPROOF_CLUSTER_NAME": "mine", "PODPROOF_LOG_LEVEL": "debug",
				"PODPROOF_LABS": dir,
			},
			want: config.Config{
				Data: "/data/podproof", Cache: "/cache/podproof", Addr: "127.0.0.1:0", Cluster: "kind",
				ClusterName: "mine", LogLevel: slog.LevelDebug, Labs: []string{dir},
			},
		},
		{
			name: "flags",
			args: []string{"--data=/d", "--cache=/c", "--addr=:9000", "--cluster=embedded", "--labs", dir, "--labs", dir},
			env:  map[string]string{"PODPROOF_ADDR": "127.0.0.1:1", "PODPROOF_CLUSTER": "kind", "PODPROOF_LABS": "/nowhere"},
			want: config.Config{
				Data: "/d", Cache: "/c", Addr: ":9000", Cluster: "embedded", ClusterName: "podproof",
				Labs: []string{dir, dir},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := load(t, tt.args, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLoadReportsEveryProblemAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := load(t, []string{
		"--addr=nowhere", "--cluster=minikube", "--cluster-name=-x", "--context=prod",
		"--kind-config=/does/not/exist", "--labs=" + file, "--log-level=loud",
	}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"--data", "--cache", "--addr", "--cluster:", "--cluster-name", "--context", "--kind-config", "--labs", "--log-level",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in:\n%v", want, err)
		}
	}
}

func TestAnExistingClusterIsNeverTakenByAccident(t *testing.T) {
	env := map[string]string{"HOME": "/home/ada", "KUBECONFIG": "/home/ada/.kube/config"}
	c, err := load(t, nil, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.Kubeconfig != "" {
		t.Errorf("took %q from KUBECONFIG", c.Kubeconfig)
	}
	if _, err := load(t, []string{"--cluster=existing"}, env); err == nil {
		t.Error("--cluster=existing without --kubeconfig was taken")
	}
}
