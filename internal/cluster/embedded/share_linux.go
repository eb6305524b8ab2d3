package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/podproof/podproof/internal/cluster"
)

// acquire takes the folder for this process; false means that another podproof
// has it. The kernel gives the lock back when its holder ends, however it ends.
func (p *Provider) acquire() (bool, error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return false, fmt.Errorf("make the data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(p.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, fmt.Errorf("lock the data folder: %w", err)
	}
	// Who holds it is for error messages only.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	p.lock = f
	return true, nil
}

func (p *Provider) owner() string {
	b, err := os.ReadFile(filepath.Join(p.Dir, "lock"))
	if err != nil || len(b) == 0 {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

// attach waits until the cluster that another process runs answers.
func (p *Provider) attach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		client, err := p.client()
		if err == nil {
			attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
			err = client.RESTClient().Get().AbsPath("/readyz").Do(attempt).Error()
			cancel()
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %s has the cluster in %s, but it does not answer: %w", p.owner(), p.Dir, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Status tells the state from the folder, the lock and the API server's answer.
func (p *Provider) Status(ctx context.Context) (cluster.Status, error) {
	if _, err := readInstance(p.Dir); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return cluster.Status{State: cluster.Absent}, nil
		}
		return cluster.Status{State: cluster.Broken, Detail: err.Error()}, nil
	}
	if p.mu.TryLock() {
		if p.node != nil && p.node.ended() {
			p.mu.Unlock()
			return cluster.Status{State: cluster.Broken, Detail: "the cluster's node was killed; start podproof again"}, nil
		}
		for _, c := range p.components {
			if err := c.failing(); err != nil {
				p.mu.Unlock()
				return cluster.Status{State: cluster.Broken, Detail: err.Error()}, nil
			}
		}
		ours := p.lock != nil
		p.mu.Unlock()
		if !ours && !p.lockedElsewhere() {
			return cluster.Status{State: cluster.Stopped}, nil
		}
	}
	client, err := p.client()
	if err != nil {
		return cluster.Status{State: cluster.Starting, Detail: err.Error()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return cluster.Status{State: cluster.Starting, Detail: "the API server does not answer yet: " + err.Error()}, nil
	}
	v, err := client.ServerVersion()
	if err != nil {
		return cluster.Status{State: cluster.Starting, Detail: err.Error()}, nil
	}
	return cluster.Status{State: cluster.Ready, Version: v.GitVersion, Detail: "run by process " + p.owner()}, nil
}

// lockedElsewhere looks without keeping the lock.
func (p *Provider) lockedElsewhere() bool {
	f, err := os.Open(filepath.Join(p.Dir, "lock"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// fresh reports whether the kubelet said something since this node was made.
func (p *Provider) fresh(t time.Time) bool {
	st, err := os.Stat(filepath.Join(p.Dir, "etc", "kubelet.kubeconfig")) // written at every start
	return err == nil && !t.Before(st.ModTime().Truncate(time.Second))
}

// dnsAnswers asks the node's DNS server for the name that always exists.
func (p *Provider) dnsAnswers(ctx context.Context) error {
	server := net.JoinHostPort(p.inst.nodeAddress().String(), strconv.Itoa(dnsPort))
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, server)
	}}
	_, err := r.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
	return err
}
