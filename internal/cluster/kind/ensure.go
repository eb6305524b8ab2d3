package kind

import (
	"context"
	"errors"
	"fmt"
	"time"

	podproof "github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/health"
)

// ForeignError says that a kind cluster of our name exists that podproof did
// not make, and therefore does not touch.
type ForeignError struct {
	Name    string
	Runtime Runtime
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("a kind cluster named %q exists on %s that podproof did not make; it is left alone: give podproof another cluster name, or remove that one with: kind delete cluster --name %s",
		e.Name, e.Runtime, e.Name)
}

// Ensure makes the cluster, starts it where it is stopped, restarts it once
// where it does not come up, and makes it anew where an earlier process left
// it half-made. A creation that fails or is cancelled is taken back before
// Ensure returns; the clean-up may take some seconds after ctx ends.
func (p *Provider) Ensure(ctx context.Context, progress podproof.Progress) error {
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
	if found.halfMade() {
		err := step(progress, "remove-half-made", "Removing a cluster that was left half-made", func() error {
			return p.remove(ctx, cli)
		})
		if err != nil {
			return err
		}
		found.nodes = nil
	}
	if found.absent() {
		err = p.createOrUndo(ctx, cli, unlock, progress)
	} else {
		err = p.mend(ctx, cli, found, progress)
	}
	if err != nil {
		return err
	}
	return p.loadImages(ctx, cli, p.opts.Archives, progress)
}

func (p *Provider) foreignError(cli *cli) error {
	return &ForeignError{Name: p.opts.Name, Runtime: cli.runtime}
}

// undoTimeout bounds the clean-up after a failed or cancelled creation.
const undoTimeout = 90 * time.Second

func (p *Provider) createOrUndo(ctx context.Context, cli *cli, lock *lock, progress podproof.Progress) error {
	if err := cli.writeJournal(ctx, p.opts.Name); err != nil {
		return err
	}
	err := p.create(ctx, cli, lock, progress)
	if err == nil {
		err = p.awaitReady(ctx, cli, false, progress)
	}
	if err == nil {
		// From here on the cluster is whole; its journal ends.
		return cli.removeJournal(ctx, p.opts.Name)
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	undone := step(progress, "undo", "Removing what was made so far", func() error {
		return p.remove(undo, cli)
	})
	if undone != nil {
		return errors.Join(err, fmt.Errorf("removing what was made so far failed too; the next start tries again: %w", undone))
	}
	return err
}

// mend brings a whole cluster up again.
func (p *Provider) mend(ctx context.Context, cli *cli, found found, progress podproof.Progress) error {
	stopped := found.stopped()
	for _, n := range stopped {
		if n.state == damaged {
			return fmt.Errorf("node %s of kind cluster %q is damaged: %s lists the container but can't tell anything about it; remove the cluster with `podproof down` and start again", n.name, p.opts.Name, cli.runtime)
		}
	}
	if len(stopped) > 0 {
		err := step(progress, "start", fmt.Sprintf("Starting the stopped kind cluster %q", p.opts.Name), func() error {
			return cli.start(ctx, stopped)
		})
		if err != nil {
			return err
		}
	}
	err := p.awaitReady(ctx, cli, len(stopped) > 0, progress)
	if err == nil || ctx.Err() != nil {
		return err
	}
	p.opts.Log.Warn("kind cluster does not become ready; its nodes are restarted", "cluster", p.opts.Name, "error", err)
	err = step(progress, "restart", "Restarting the nodes", func() error { return cli.restart(ctx, found.nodes) })
	if err == nil {
		err = p.awaitReady(ctx, cli, true, progress)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("kind cluster %q exists but does not become ready, even after a restart; the learners' objects are in it, so it is not replaced by itself: look with `%s logs %s-control-plane`, or remove it with `podproof down` and start again: %w",
		p.opts.Name, cli.runtime, p.opts.Name, err)
}

// awaitReady waits until every node is Ready and cluster DNS serves. kind's
// own wait looks at control planes only and is silent when its time is up.
// After a start the API server still tells what was true before the stop, so
// a sign of life from each node is waited for as well.
func (p *Provider) awaitReady(ctx context.Context, cli *cli, started bool, progress podproof.Progress) error {
	return step(progress, "node-ready", "Waiting for the nodes to become Ready", func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, p.opts.ReadyTimeout, errTimeout)
		defer cancel()
		reason := "the API server has not answered yet"
		var first *health.Report
		for {
			report, waiting, err := p.look(ctx, cli)
			if err == nil && first == nil {
				first = &report
			}
			switch {
			case err == nil && waiting == "" && (!started || report.HeardSince(*first)):
				return nil
			case ctx.Err() != nil:
			case err != nil:
				reason = err.Error()
			case waiting != "":
				reason = waiting
			default:
				reason = "the nodes' kubelets have not reported since the start"
			}
			if err := sleep(ctx, 500*time.Millisecond); err != nil {
				if errors.Is(err, errTimeout) {
					return fmt.Errorf("kind cluster %q is not ready after %s: %s", p.opts.Name, p.opts.ReadyTimeout, reason)
				}
				return err
			}
		}
	})
}

// look asks the running cluster once; waiting says why it takes no Pods yet.
func (p *Provider) look(ctx context.Context, cli *cli) (report health.Report, waiting string, err error) {
	nodes, err := cli.nodes(ctx, p.opts.Name)
	if err != nil {
		return report, "", err
	}
	kubeconfig, err := p.kubeconfig(ctx, cli)
	if err != nil {
		return report, "", err
	}
	config, err := health.Config(kubeconfig)
	if err != nil {
		return report, "", err
	}
	report, err = health.Look(ctx, config)
	if err != nil {
		return report, "", err
	}
	return report, report.Waiting(found{nodes: nodes}.members()), nil
}

// Status looks without changing anything.
func (p *Provider) Status(ctx context.Context) (podproof.Status, error) {
	cli, err := p.runtime(ctx)
	if err != nil {
		return podproof.Status{}, err
	}
	found, err := p.find(ctx, cli)
	if err != nil {
		return podproof.Status{}, err
	}
	busy := p.locked()
	switch {
	case found.absent() && busy:
		return podproof.Status{State: podproof.Starting, Detail: "another podproof is making the cluster"}, nil
	case found.absent():
		return podproof.Status{State: podproof.Absent}, nil
	case found.foreign():
		return podproof.Status{State: podproof.Broken, Detail: p.foreignError(cli).Error()}, nil
	case found.halfMade() && busy:
		return podproof.Status{State: podproof.Starting, Detail: "the cluster is being made"}, nil
	case found.halfMade():
		return podproof.Status{State: podproof.Broken, Detail: "the cluster was left half-made; the next start makes it anew"}, nil
	case len(found.stopped()) > 0:
		return podproof.Status{State: podproof.Stopped, Detail: "the next start starts it again"}, nil
	}
	report, waiting, err := p.look(ctx, cli)
	switch {
	case ctx.Err() != nil:
		return podproof.Status{}, context.Cause(ctx)
	case err != nil && busy:
		return podproof.Status{State: podproof.Starting, Detail: err.Error()}, nil
	case err != nil:
		return podproof.Status{State: podproof.Broken, Detail: err.Error()}, nil
	case waiting != "":
		return podproof.Status{State: podproof.Starting, Version: report.Version, Detail: waiting}, nil
	}
	return podproof.Status{State: podproof.Ready, Version: report.Version, Detail: p.imageSource()}, nil
}

// imageSource says in English where the labs' images come from.
func (p *Provider) imageSource() string {
	if len(p.opts.Archives) == 0 {
		return "no image archives given: the nodes pull images from their registries"
	}
	return fmt.Sprintf("images come from %d archives", len(p.opts.Archives))
}
