package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/podproof/podproof/internal/cluster"
)

const stopLimit = 10 * time.Second

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
		p.stopComponents(500*time.Millisecond, func(name string) bool { return name != "etcd" && name != "containerd" })
		p.stopComponents(1500*time.Millisecond, func(string) bool { return true })
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

func (p *Provider) startComponents(which func(name string) bool) {
	for _, c := range p.components {
		if which(c.name) {
			c.start()
		}
	}
}

func (p *Provider) stopComponents(grace time.Duration, which func(name string) bool) {
	var all sync.WaitGroup
	for _, c := range p.components {
		if which(c.name) {
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
