package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	inst       instance
	node       *node
	components []*component
}

// New returns the provider of the cluster in o.Dir. It touches nothing yet.
func New(o Options) *Provider { return &Provider{Options: o.withDefaults()} }

// Name is "embedded".
func (*Provider) Name() string { return "embedded" }

const (
	startLimit = 90 * time.Second
	stopLimit  = 10 * time.Second
)

// Ensure starts the cluster and returns when Pods can run. Where another
// process runs the cluster of the same folder already, that one is used, and
// Close leaves it alone.
func (p *Provider) Ensure(ctx context.Context, progress cluster.Progress) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.node != nil {
		return p.ready(ctx, progress)
	}
	var h host
	if err := report(progress, "preflight", "Looking for what an embedded cluster needs", func() (err error) {
		h, err = p.preflight()
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
	if err := p.startNode(ctx, h, progress); err != nil {
		return err
	}
	return p.startCluster(ctx, newSettings(p.inst, h), progress)
}

// startNode cleans up after an earlier, perhaps killed, run and makes the node.
func (p *Provider) startNode(ctx context.Context, h host, progress cluster.Progress) error {
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
		s := newSettings(p.inst, h)
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
			p.Logger.Warn("Pods can't reach networks outside the cluster", "error", err)
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
	commands := map[string]command{}
	for _, c := range s.commands() {
		commands[c.name] = c
	}
	start := func(names ...string) {
		for _, name := range names {
			p.components = append(p.components, startComponent(commands[name], p.node, p.logDir(), p.Logger))
		}
	}
	start("etcd", "containerd", "kube-apiserver")

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
		start("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "coredns")
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

// Close stops the cluster, within about five seconds whatever ctx says; its data stays.
func (p *Provider) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shutDown()
}

// shutDown ends whatever of the cluster runs and releases the folder.
func (p *Provider) shutDown() error {
	// Cleaning up must not stop halfway because a caller has lost patience.
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	var err error
	if p.node != nil {
		// The store is stopped in order, so that nothing written is lost; all
		// others only need to be gone, as on a machine that is switched off.
		p.stopComponents(500*time.Millisecond, func(c *component) bool { return c.name != "etcd" && c.name != "containerd" })
		p.stopComponents(1500*time.Millisecond, func(*component) bool { return true })
		p.node.stop()
		p.node, p.components = nil, nil
		err = p.inst.cleanUp(ctx)
		if err == nil {
			p.inst.Init, p.inst.Forwarding = nil, false
			err = p.inst.save(p.Dir)
		}
	}
	if p.lock != nil {
		err = errors.Join(err, p.lock.Close())
		p.lock = nil
	}
	return err
}

func (p *Provider) stopComponents(grace time.Duration, which func(*component) bool) {
	var all sync.WaitGroup
	for _, c := range p.components {
		if which(c) {
			all.Go(func() { c.stop(grace) })
		}
	}
	all.Wait()
}

// cleanUp removes what the instance has on the machine besides its folder.
func (i instance) cleanUp(ctx context.Context) error {
	if i.Init != nil {
		if err := i.Init.end(ctx); err != nil {
			return err
		}
	}
	// The kernel removes the link with the namespaces, soon after; waiting for it
	// to do so takes longer than doing it.
	if _, err := os.Stat("/sys/class/net/" + i.linkName()); err == nil {
		if err := run(ctx, "ip", "link", "delete", i.linkName()); err != nil {
			if _, still := os.Stat("/sys/class/net/" + i.linkName()); still == nil {
				return err
			}
		}
	}
	return errors.Join(i.closeOutward(ctx), removeCgroup(ctx, cgroupRoot, i.cgroup()))
}

// Delete stops the cluster, if this process runs it, and removes its folder.
func (p *Provider) Delete(ctx context.Context, progress cluster.Progress) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := os.Stat(p.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if p.lock == nil {
		held, err := p.acquire()
		if err != nil {
			return err
		}
		if !held {
			return fmt.Errorf("the cluster in %s is in use by process %s: stop that podproof first", p.Dir, p.owner())
		}
	}
	return report(progress, "delete", "Removing the cluster", func() error {
		inst, err := readInstance(p.Dir)
		if err == nil && p.node == nil {
			err = inst.cleanUp(ctx)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, p.shutDown())
		}
		if err := p.shutDown(); err != nil {
			return err
		}
		if err := os.RemoveAll(p.Dir); err != nil {
			return fmt.Errorf("remove the cluster's folder: %w", err)
		}
		return nil
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

func (p *Provider) store() imageStore { return imageStore{node: p.node, dir: p.Dir} }
func (p *Provider) logDir() string    { return filepath.Join(p.Dir, nodeLog, "components") }

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
