// Package kind makes the cluster out of containers, with sigs.k8s.io/kind as
// a library on Docker, Podman or nerdctl.
//
// A cluster of ours is told from a stranger's of the same name by two marks.
// Every node carries the label [Label]; kind writes it into the node's kubeadm
// configuration, where it can be read even while the node is stopped. And a
// labelled volume, the journal, exists from before the first container until
// the cluster has been ready once, and again while it is being deleted; so a
// cluster whose journal is there was left half-made by a process that died,
// and is made anew.
package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"

	podproof "github.com/podproof/podproof/internal/cluster"
)

const (
	// DefaultName is the cluster's name where none is given.
	DefaultName = "podproof"
	// DefaultNodeImage is the node image where none is given.
	DefaultNodeImage = "kindest/node:v1.35.8"
	// Label marks the nodes of clusters that podproof made; its value is the
	// cluster's name.
	Label = "podproof.dev/kind-cluster"
)

// Options say which cluster, and on what. The zero value serves.
type Options struct {
	// Name is the kind cluster's name, DefaultName if empty.
	Name string
	// Runtime is found by itself if empty.
	Runtime Runtime
	// NodeImage is used by all nodes for which Config names no image of its
	// own; DefaultNodeImage if empty.
	NodeImage string
	// Config is a kind configuration (kind.x-k8s.io/v1alpha4, YAML); empty
	// for one node with kind's defaults.
	Config []byte
	// Archives are docker-format archives whose images Ensure puts into the
	// nodes. With none, the nodes pull from their registries.
	Archives []string
	// LockDir holds a lock by which processes of one user take turns with a
	// cluster; podproof in the user's cache folder if empty.
	LockDir string
	// Helper is the command line of a program that calls [RunHelper]; this
	// executable with "internal kind-create" if empty.
	Helper []string
	// ReadyTimeout bounds the wait for Ready nodes; five minutes if zero.
	ReadyTimeout time.Duration
	// Log receives kind's warnings and details; slog's default if nil.
	Log *slog.Logger
}

// Provider implements cluster.Provider with kind.
type Provider struct {
	opts Options

	mu  sync.Mutex
	cli *cli // found on first use
}

var _ podproof.Provider = (*Provider)(nil)

// kind's own limit is that of a host name with "-control-plane" appended.
var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,48}[a-z0-9])?$`)

// New checks the options; it does not touch the machine.
func New(o Options) (*Provider, error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if !nameForm.MatchString(o.Name) {
		return nil, fmt.Errorf("kind cluster name %q: want up to 50 lower-case letters, digits, dots and dashes", o.Name)
	}
	if o.NodeImage == "" {
		o.NodeImage = DefaultNodeImage
	}
	if _, err := buildConfig(o.Config, o.Name, o.NodeImage); err != nil {
		return nil, err
	}
	switch o.Runtime {
	case "", Docker, Podman, Nerdctl:
	default:
		return nil, fmt.Errorf("unknown container runtime %q: want docker, podman or nerdctl", o.Runtime)
	}
	if o.LockDir == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find a folder for the cluster's lock: %w", err)
		}
		o.LockDir = filepath.Join(dir, "podproof")
	}
	if len(o.Helper) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the podproof executable: %w", err)
		}
		o.Helper = []string{self, "internal", "kind-create"}
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Provider{opts: o}, nil
}

// Name is "kind".
func (p *Provider) Name() string { return "kind" }

// Available tells whether a container runtime answers; the error is that of
// [Detect].
func (p *Provider) Available(ctx context.Context) error {
	_, err := p.runtime(ctx)
	return err
}

// Kubeconfig reads the administrator's kubeconfig out of the node. The user's
// own kubeconfig is never written.
func (p *Provider) Kubeconfig(ctx context.Context) ([]byte, error) {
	cli, err := p.runtime(ctx)
	if err != nil {
		return nil, err
	}
	return p.kubeconfig(ctx, cli)
}

func (p *Provider) kubeconfig(ctx context.Context, cli *cli) ([]byte, error) {
	var text string
	err := await(ctx, func() (err error) {
		text, err = cli.kind(p.logger(nil)).KubeConfig(p.opts.Name, false)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig of kind cluster %q: %w", p.opts.Name, explain(err))
	}
	return []byte(text), nil
}

// Close does nothing: the cluster runs on in its containers.
func (p *Provider) Close(context.Context) error { return nil }

// Delete removes the cluster's containers, their volumes and the journal. It
// refuses a cluster that podproof did not make. The network "kind", which all
// kind clusters of a machine share, stays, as kind itself leaves it.
func (p *Provider) Delete(ctx context.Context, progress podproof.Progress) error {
	cli, err := p.runtime(ctx)
	if err != nil {
		return err
	}
	unlock, err := p.lock(ctx, progress)
	if err != nil {
		return err
	}
	defer closeQuietly(unlock)

	found, err := p.find(ctx, cli)
	if err != nil {
		return err
	}
	if found.foreign() {
		return p.foreignError(cli)
	}
	return step(progress, "delete", fmt.Sprintf("Deleting kind cluster %q", p.opts.Name), func() error {
		return p.remove(ctx, cli)
	})
}

// maxRemovals bounds how often a removal that fails is tried.
const maxRemovals = 5

// remove deletes until nothing is seen any more: a container whose creation
// the runtime had begun when its client was killed may appear a little later.
func (p *Provider) remove(ctx context.Context, cli *cli) error {
	scratch, err := os.MkdirTemp("", "podproof-kind-")
	if err != nil {
		return fmt.Errorf("delete kind cluster %q: %w", p.opts.Name, err)
	}
	defer removeQuietly(scratch)

	if err := cli.writeJournal(ctx, p.opts.Name); err != nil {
		return err
	}
	failures := 0
	for clean := 0; clean < 2; {
		nodes, err := cli.nodes(ctx, p.opts.Name)
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			clean++
		} else {
			clean = 0
			err = await(ctx, func() error {
				return cli.kind(p.logger(nil)).Delete(p.opts.Name, filepath.Join(scratch, "kubeconfig"))
			})
			if err != nil {
				failures++
			}
			if err != nil && (ctx.Err() != nil || failures == maxRemovals) {
				return fmt.Errorf("delete kind cluster %q: %w", p.opts.Name, explain(err))
			}
		}
		if err := sleep(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	return cli.removeJournal(ctx, p.opts.Name)
}

// runtime finds the container runtime, once it has answered for good.
func (p *Provider) runtime(ctx context.Context) (*cli, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cli != nil {
		return p.cli, p.cli.ping(ctx)
	}
	rt := p.opts.Runtime
	if rt == "" {
		found, err := Detect(ctx)
		if err != nil {
			return nil, err
		}
		rt = found
	}
	cli, err := open(ctx, rt)
	if err != nil {
		return nil, err
	}
	p.cli = cli
	return cli, nil
}

func (c *cli) kind(l *logger) *cluster.Provider {
	return cluster.NewProvider(c.option(), cluster.ProviderWithLogger(l))
}

// await runs what takes no context and leaves it behind when ctx ends; only
// for calls that are harmless when they go on.
func await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func closeQuietly(c io.Closer) { _ = c.Close() }

func removeQuietly(dir string) { _ = os.RemoveAll(dir) }

var errTimeout = errors.New("time is up")
