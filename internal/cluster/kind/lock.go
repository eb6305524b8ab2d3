package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	podproof "github.com/podproof/podproof/internal/cluster"
)

// lock is held by one process at a time for one cluster's name. The kernel
// releases it when the last process that shares it is gone.
type lock struct {
	path string
	file *os.File
}

func (l *lock) Close() error { return l.file.Close() }

func (p *Provider) lockPath() string {
	return filepath.Join(p.opts.LockDir, "kind-"+p.opts.Name+".lock")
}

func (p *Provider) openLock() (*lock, error) {
	path := p.lockPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock kind cluster %q: %w", p.opts.Name, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock kind cluster %q: %w", p.opts.Name, err)
	}
	return &lock{path: path, file: f}, nil
}

// lock waits until no other process works on the cluster.
func (p *Provider) lock(ctx context.Context, progress podproof.Progress) (*lock, error) {
	l, err := p.openLock()
	if err != nil {
		return nil, err
	}
	for waited := false; ; waited = true {
		got, err := l.try()
		if err != nil {
			closeQuietly(l)
			return nil, fmt.Errorf("lock kind cluster %q: %w", p.opts.Name, err)
		}
		if got {
			if waited {
				emit(progress, podproof.Event{Step: "turn", Text: "The other podproof is done", Done: true})
			}
			return l, nil
		}
		if !waited {
			emit(progress, podproof.Event{Step: "turn", Text: "Waiting for another podproof that works on the same cluster"})
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			closeQuietly(l)
			return nil, err
		}
	}
}

// locked tells whether some process works on the cluster right now.
func (p *Provider) locked() bool {
	f, err := os.Open(p.lockPath())
	if err != nil {
		return false // never locked yet
	}
	l := &lock{path: p.lockPath(), file: f}
	defer closeQuietly(l)
	got, err := l.try()
	return err == nil && !got
}
