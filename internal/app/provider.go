package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/embedded"
	"github.com/podproof/podproof/internal/cluster/existing"
	"github.com/podproof/podproof/internal/cluster/kind"
	"github.com/podproof/podproof/internal/config"
)

// Provider chooses where the cluster comes from. With "auto": the kubeconfig
// that was named; else kind, where Docker, Podman or nerdctl can be reached;
// else an embedded cluster, on Linux as root. The error says what to install.
func Provider(ctx context.Context, c config.Config, log *slog.Logger) (cluster.Provider, error) {
	switch c.Cluster {
	case "existing":
		return newExisting(c)
	case "kind":
		return newKind(c, "", log)
	case "embedded":
		return newEmbedded(c, log)
	}
	if c.Kubeconfig != "" {
		return newExisting(c)
	}
	rt, noKind := kind.Detect(ctx)
	if noKind == nil {
		return newKind(c, rt, log)
	}
	p, noEmbedded := newEmbedded(c, log)
	if noEmbedded == nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is nothing to run a cluster on:\n%w\n"+
		"or name a cluster of your own with --kubeconfig", errors.Join(
		fmt.Errorf("  kind: %w", noKind), fmt.Errorf("  embedded: %w", noEmbedded)))
}

func newExisting(c config.Config) (cluster.Provider, error) {
	p, err := existing.New(existing.Options{Kubeconfig: c.Kubeconfig, Context: c.Context})
	if err != nil {
		return nil, fmt.Errorf("existing cluster: %w", err)
	}
	return p, nil
}

func newKind(c config.Config, rt kind.Runtime, log *slog.Logger) (cluster.Provider, error) {
	o := kind.Options{
		Name: c.ClusterName, Runtime: rt, NodeImage: c.NodeImage,
		LockDir: c.Data, Log: log,
	}
	if c.KindConfig != "" {
		raw, err := os.ReadFile(c.KindConfig)
		if err != nil {
			return nil, fmt.Errorf("kind configuration: %w", err)
		}
		o.Config = raw
	}
	archives, err := filepath.Glob(filepath.Join(c.Cache, "images", "*.tar"))
	if err != nil {
		return nil, fmt.Errorf("image archives: %w", err)
	}
	o.Archives = archives
	p, err := kind.New(o)
	if err != nil {
		return nil, fmt.Errorf("kind: %w", err)
	}
	return p, nil
}

func newEmbedded(c config.Config, log *slog.Logger) (cluster.Provider, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("an embedded cluster needs Linux, and this is %s", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("an embedded cluster needs root; run podproof with sudo")
	}
	bin := filepath.Join(c.Cache, "bin")
	if _, err := os.Stat(filepath.Join(bin, "kubernetes")); err != nil {
		return nil, fmt.Errorf("the components of the embedded cluster are not in %s; build them with: make components images", bin)
	}
	return embedded.New(embedded.Options{
		Dir:    filepath.Join(c.Data, "clusters", c.ClusterName),
		Bin:    bin,
		Images: filepath.Join(c.Cache, "images"),
		Logger: log,
	}), nil
}
