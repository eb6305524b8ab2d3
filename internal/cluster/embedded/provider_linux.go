package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podproof/podproof/internal/cluster"
)

// Provider of one embedded cluster. Its methods may be called from several
// goroutines; one at a time does its work.
type Provider struct {
	Options

	mu         sync.Mutex
	lock       *os.File // held while the cluster is this process's
	host       host
	inst       instance
	node       *node
	components []*component
}

// New returns the provider of the cluster in o.Dir. It touches nothing yet.
func New(o Options) *Provider { return &Provider{Options: o.withDefaults()} }

// Name is "embedded".
func (*Provider) Name() string { return "embedded" }

const startLimit = 2 * time.Minute

// Ensure starts the cluster and returns when Pods can run. Where another
// process runs the cluster of the same folder already, that one is used, and
// Close leaves it alone.
func (p *Provider) Ensure(ctx context.Context, progress cluster.Progress) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.node != nil && !p.node.ended() {
		return p.ready(ctx, progress)
	}
	if err := p.shutDown(); err != nil { // of a node that was killed
		return err
	}
	if err := report(progress, "preflight", "Looking for what an embedded cluster needs", func() (err error) {
		p.host, err = p.preflight()
		return err
	}); err != nil {
		return err
	}
	held, err := p.acquire()
	if err != nil {
		return err
	}
	if !held {
		return report(progress, "attach", "Using the cluster that another podproof runs", func() error { return p.attach(ctx) })
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.shutDown())
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("the cluster was not ready within %v; see %s", startLimit, p.logDir()))
	defer cancel()
	if err := p.startNode(ctx, progress); err != nil {
		return err
	}
	if err := p.startCluster(ctx, newSettings(p.inst, p.host), progress); err != nil {
		return err
	}
	go watch(p.node, p.Logger)
	return nil
}

// watch reports a node that ends although nobody stopped it.
func watch(n *node, logger *slog.Logger) {
	<-n.gone
	if !n.stopping.Load() {
		logger.Error("the cluster's node was killed; start podproof again")
	}
}

// startNode cleans up after an earlier, perhaps killed, run and makes the node.
func (p *Provider) startNode(ctx context.Context, progress cluster.Progress) error {
	err := report(progress, "leftovers", "Removing what an earlier run left", func() error {
		inst, err := readInstance(p.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return inst.cleanUp(ctx)
	})
	if err != nil {
		return err
	}
	return report(progress, "node", "Making the node's namespaces and network", func() error {
		taken, err := takenNetworks()
		if err != nil {
			return err
		}
		if p.inst, err = loadInstance(p.Dir, taken); err != nil {
			return err
		}
		s := newSettings(p.inst, p.host)
		if err := s.writeCredentials(p.Dir); err != nil {
			return err
		}
		files, err := s.files()
		if err != nil {
			return err
		}
		for name, b := range files {
			if err := writeFile(filepath.Join(p.Dir, name), b, 0o644); err != nil {
				return fmt.Errorf("write the settings: %w", err)
			}
		}
		if err := os.MkdirAll(p.logDir(), 0o755); err != nil {
			return fmt.Errorf("make the log folder: %w", err)
		}
		if err := makeCgroup(cgroupRoot, p.inst.cgroup()); err != nil {
			return err
		}
		if p.node, err = startNode(ctx, p.inst, p.Dir, p.Bin); err != nil {
			return err
		}
		id, err := identify(p.node.init.Process.Pid)
		if err != nil {
			return err
		}
		p.inst.Init = &id
		switched, err := p.inst.openOutward(ctx)
		if err != nil {
			// Everything but pulling images works without.
			p.Logger.WarnContext(ctx, "Pods can't reach networks outside the cluster", "error", err)
		}
		p.inst.Forwarding = p.inst.Forwarding || switched
		return p.inst.save(p.Dir)
	})
}

// startCluster starts the components and returns when Pods can run.
func (p *Provider) startCluster(ctx context.Context, s settings, progress cluster.Progress) error {
	archives, err := archivesIn(p.Images)
	if err != nil {
		return err
	}
	for _, c := range s.commands() {
		p.components = append(p.components, newComponent(c, p.node, p.logDir(), p.Logger))
	}
	// The others would only wait for the API server, with growing patience.
	first := []string{"etcd", "containerd", "kube-apiserver"}
	p.startComponents(func(name string) bool { return slices.Contains(first, name) })

	// Images are loaded while the API server starts.
	images := make(chan error, 1)
	go func() {
		err := p.await(ctx, progress, "containerd", "Starting the container runtime", func(ctx context.Context) error {
			_, err := p.store().list(ctx)
			return err
		})
		if err == nil {
			err = p.store().load(ctx, archives, progress)
		}
		images <- err
	}()
	client, err := p.client()
	if err == nil {
		err = p.await(ctx, progress, "api", "Starting etcd and the API server", func(ctx context.Context) error {
			return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		})
	}
	if err == nil {
		p.startComponents(func(name string) bool { return !slices.Contains(first, name) })
		err = ensureObjects(ctx, client, s)
	}
	if err := errors.Join(err, <-images); err != nil {
		return err
	}
	return p.ready(ctx, progress)
}

// ready waits until Pods can run: the node is Ready, the default ServiceAccount
// exists and cluster DNS answers.
func (p *Provider) ready(ctx context.Context, progress cluster.Progress) error {
	client, err := p.client()
	if err != nil {
		return err
	}
	err = p.await(ctx, progress, "node-ready", "Waiting for the node to be Ready", func(ctx context.Context) error {
		n, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		// The condition may be an earlier run's: only a fresh one counts.
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && p.fresh(c.LastHeartbeatTime.Time) {
				return nil
			}
		}
		return errors.New("the node is not Ready")
	})
	if err != nil {
		return err
	}
	err = p.await(ctx, progress, "accounts", "Waiting for the default ServiceAccount", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return p.await(ctx, progress, "dns", "Waiting for cluster DNS", p.dnsAnswers)
}

// await polls look until it returns nil. It gives up when ctx ends, and sooner
// where a component keeps dying, with that component's last words.
func (p *Provider) await(ctx context.Context, progress cluster.Progress, step, text string, look func(context.Context) error) error {
	return report(progress, step, text, func() error {
		for {
			attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
			err := look(attempt)
			cancel()
			if err == nil {
				return nil
			}
			for _, c := range p.components {
				if dying := c.failing(); dying != nil {
					return dying
				}
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: last answer: %w", context.Cause(ctx), err)
			case <-p.node.gone:
				return errors.New("the node's first process was killed")
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// Kubeconfig returns the administrator's kubeconfig, also while another process
// runs the cluster.
func (p *Provider) Kubeconfig(context.Context) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(p.Dir, "etc", "admin.kubeconfig"))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's kubeconfig (has the cluster ever run?): %w", err)
	}
	return b, nil
}

func (p *Provider) client() (*kubernetes.Clientset, error) {
	b, err := p.Kubeconfig(context.Background())
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(b)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	config.QPS = -1 // the waiting loops pace themselves
	return kubernetes.NewForConfig(config)
}

// LoadImages puts the archives' images into the node, where they are not yet.
func (p *Provider) LoadImages(ctx context.Context, archives []string, progress cluster.Progress) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.node == nil {
		return errors.New("load images: the cluster does not run in this process")
	}
	return p.store().load(ctx, archives, progress)
}

func (p *Provider) store() imageStore {
	return imageStore{node: p.node, dir: p.Dir, snapshotter: p.host.Snapshotter}
}
func (p *Provider) logDir() string { return filepath.Join(p.Dir, nodeLog, "components") }

// report brackets f with the events of its step.
func report(progress cluster.Progress, step, text string, f func() error) error {
	if progress == nil {
		return f()
	}
	progress(cluster.Event{Step: step, Text: text})
	err := f()
	progress(cluster.Event{Step: step, Text: text, Done: true, Err: err})
	return err
}
