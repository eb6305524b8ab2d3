// Package app wires podproof together: catalogue, store, cluster, use cases
// and pages. The command line and the end-to-end tests start it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/config"
	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/internal/text"
	"github.com/podproof/podproof/labs"
	"github.com/podproof/podproof/web"
	"github.com/podproof/podproof/web/assets"
)

// App is a podproof that has been put together and not yet started.
type App struct {
	Config    config.Config
	Catalog   *labs.Catalog
	Text      *text.Catalog
	Store     *sqlite.Store
	Workspace *Workspace
	Study     *study.Service
	log       *slog.Logger
}

// New opens the store and puts the parts together. It touches no cluster.
// onStep is called with each step of the cluster's start, and may be nil.
func New(ctx context.Context, c config.Config, log *slog.Logger, onStep cluster.Progress) (*App, error) {
	catalog, err := Catalog(c.Labs)
	if err != nil {
		return nil, err
	}
	texts, err := text.New()
	if err != nil {
		return nil, err
	}
	provider, err := Provider(ctx, c, log)
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, Database(c))
	if err != nil {
		return nil, err
	}
	workspace := NewWorkspace(provider, Namespaces(catalog), Kubeconfig(c), store, log, onStep)
	service := study.New(catalog, store, workspace, log)
	workspace.OnChange(service.Changed)
	return &App{
		Config:    c,
		Catalog:   catalog,
		Text:      texts,
		Store:     store,
		Workspace: workspace,
		Study:     service,
		log:       log,
	}, nil
}

// Database is the path of the database.
func Database(c config.Config) string { return filepath.Join(c.Data, "podproof.db") }

// Kubeconfig is the path of the learner's kubeconfig.
func Kubeconfig(c config.Config) string { return filepath.Join(c.Data, "kubeconfig") }

// clusters is the folder of embedded clusters.
func clusters(c config.Config) string { return filepath.Join(c.Data, "clusters") }

// removeEmpty removes a folder, unless there is something in it.
func removeEmpty(dir string) error {
	inside, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || len(inside) > 0 {
		return nil
	}
	if err == nil {
		err = os.Remove(dir)
	}
	if err != nil {
		return fmt.Errorf("remove the empty folder of clusters: %w", err)
	}
	return nil
}

// stopTime bounds how long an orderly stop takes.
const stopTime = 10 * time.Second

// Close stops what Up has started and closes the store.
func (a *App) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return errors.Join(a.Workspace.Close(ctx), a.Store.Close())
}

// Listen opens the address that the pages are served on.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program, perhaps another podproof; "+
			"stop that one or choose an address with --addr", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s may be served by root only; choose a port above 1023 with --addr", addr)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}

// Serve serves the pages on l at once and brings the cluster up behind them,
// until ctx ends. Then it stops in order and returns nil. It closes l.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	defer func() { _ = l.Close() }() // closed already after serving
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	dist, err := fs.Sub(assets.Dist, "dist")
	if err != nil {
		return fmt.Errorf("the browser's files: %w", err)
	}
	pages, err := web.New(a.Study, a.Text, dist, a.log)
	if err != nil {
		return err
	}

	// Requests outlive ctx by a moment: Shutdown lets them end.
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	server := web.Server(requests, pages, a.log)
	up := make(chan struct{})
	go func() {
		defer close(up)
		a.keepTrying(ctx)
	}()
	var looking sync.WaitGroup
	looking.Go(func() { a.Study.RunLive(ctx) })
	defer looking.Wait()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-served:
		failed = fmt.Errorf("serve pages: %w", failed)
	}
	cancel()
	time.AfterFunc(stopTime/5, abandon) // a grading in flight is called off
	stop, done := context.WithTimeout(context.WithoutCancel(ctx), stopTime/2)
	defer done()
	if err := server.Shutdown(stop); err != nil {
		failed = errors.Join(failed, server.Close())
	}
	<-up
	return failed
}

// keepTrying brings the cluster up, and again after a failure: a daemon may
// come back, a disk be freed.
func (a *App) keepTrying(ctx context.Context) {
	for wait := 10 * time.Second; ; wait = min(2*wait, 2*time.Minute) {
		err := a.Workspace.Up(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			a.log.InfoContext(ctx, "cluster is ready", "version", a.Workspace.State().Version, "kubeconfig", Kubeconfig(a.Config))
			return
		}
		a.log.ErrorContext(ctx, "cluster did not come up", "error", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Down deletes the cluster that podproof made and what it left on the machine.
// From an existing cluster it removes what podproof made there.
func Down(ctx context.Context, c config.Config, log *slog.Logger, progress cluster.Progress) error {
	p, err := Provider(ctx, c, log)
	if err != nil {
		return err
	}
	if p.Name() != "existing" {
		if err := p.Delete(ctx, progress); err != nil {
			return fmt.Errorf("delete the %s cluster: %w", p.Name(), err)
		}
		return removeEmpty(clusters(c))
	}
	client, err := connect(ctx, p)
	if err != nil {
		return err
	}
	if err := client.Unprovision(ctx, func(step string) { progress(cluster.Event{Step: step, Text: step}) }); err != nil {
		return fmt.Errorf("remove what podproof made: %w", err)
	}
	progress(cluster.Event{Step: "down", Text: "Removed the labs' namespaces and the learner's rights; the cluster itself is not podproof's and stays", Done: true})
	return nil
}
