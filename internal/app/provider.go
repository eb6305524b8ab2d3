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

// Choose says where the cluster comes from: existing, kind or embedded. With
// "auto": the kubeconfig that was named; else kind, where Docker, Podman or
// nerdctl can be reached; else an embedded cluster, on Linux as root. The error
// says what to install.
func Choose(ctx context.Context, c config.Config) (string, error) {
	switch {
	case c.Cluster != "auto":
		return c.Cluster, nil
	case c.Kubeconfig != "":
		return "existing", nil
	}
	_, noKind := kind.Detect(ctx)
	if noKind == nil {
		return "kind", nil
	}
	noEmbedded := canEmbed()
	if noEmbedded == nil {
		return "embedded", nil
	}
	return "", fmt.Errorf("there is nothing to run a cluster on:\n  kind: %w\n  embedded: %w\n"+
		"or name a cluster of your own with --kubeconfig", noKind, noEmbedded)
}

// Provider returns the provider of the cluster that Choose has chosen.
func Provider(ctx context.Context, c config.Config, log *slog.Logger) (cluster.Provider, error) {
	name, err := Choose(ctx, c)
	if err != nil {
		return nil, err
	}
	switch name {
	case "existing":
		return newExisting(c)
	case "kind":
		p, err := newKind(c, log)
		if err != nil {
			return nil, err
		}
		if c.Cluster == "auto" && canEmbed() == nil {
			return orEmbedded{p}, nil
		}
		return p, nil
	case "embedded":
		return newEmbedded(c, log)
	default:
		return nil, fmt.Errorf("there is no kind of cluster called %q", name)
	}
}

// orEmbedded is kind as it was chosen automatically where an embedded cluster
// could run too. It does not fall back to that by itself: the learner's objects
// would be in another cluster than before.
type orEmbedded struct{ cluster.Provider }

func (p orEmbedded) Ensure(ctx context.Context, progress cluster.Progress) error {
	err := p.Provider.Ensure(ctx, progress)
	if errors.Is(err, kind.ErrNoNodeImage) {
		return fmt.Errorf("%w\nor use the embedded cluster, which needs no node image: --cluster=embedded", err)
	}
	return err
}

// canEmbed tells why this machine cannot run an embedded cluster.
func canEmbed() error {
	switch {
	case runtime.GOOS != "linux":
		return fmt.Errorf("an embedded cluster needs Linux, and this is %s", runtime.GOOS)
	case os.Geteuid() != 0:
		return errors.New("an embedded cluster needs root; run podproof with sudo")
	}
	return nil
}

func newExisting(c config.Config) (cluster.Provider, error) {
	p, err := existing.New(existing.Options{Kubeconfig: c.Kubeconfig, Context: c.Context})
	if err != nil {
		return nil, fmt.Errorf("existing cluster: %w", err)
	}
	return p, nil
}

func newKind(c config.Config, log *slog.Logger) (cluster.Provider, error) {
	o := kind.Options{
		Name: c.ClusterName, NodeImage: c.NodeImage,
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
	if err := canEmbed(); err != nil {
		return nil, err
	}
	bin := filepath.Join(c.Cache, "bin")
	if _, err := os.Stat(filepath.Join(bin, "kubernetes")); err != nil {
		return nil, fmt.Errorf("the components of the embedded cluster are not in %s; build them with: make components images", bin)
	}
	return embedded.New(embedded.Options{
		Dir:    filepath.Join(clusters(c), c.ClusterName),
		Bin:    bin,
		Images: filepath.Join(c.Cache, "images"),
		Logger: log,
	}), nil
}
