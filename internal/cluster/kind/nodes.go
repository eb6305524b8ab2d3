package kind

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Labels and a path of kind's own that its library keeps to itself.
const (
	kindClusterLabel = "io.x-k8s.kind.cluster"
	kindRoleLabel    = "io.x-k8s.kind.role"
	kubeadmConfig    = "/kind/kubeadm.conf"
)

// node is a node's container.
type node struct {
	name  string
	role  string // "control-plane", "worker", "external-load-balancer"
	state string // the runtime's word: "running", "exited", "created", "paused", ..., or damaged
}

// damaged is the state of a container that the runtime lists but can't tell
// anything about.
const damaged = "damaged"

func (n node) running() bool { return n.state == "running" }

// kubernetes tells whether the container is a node of Kubernetes at all.
func (n node) kubernetes() bool { return n.role == "control-plane" || n.role == "worker" }

// nodes lists the containers of the kind cluster, running or not.
func (c *cli) nodes(ctx context.Context, clusterName string) ([]node, error) {
	out, err := c.run(ctx, "ps", "--all", "--filter", "label="+kindClusterLabel+"="+clusterName, "--format", "{{.Names}}")
	if err != nil {
		return nil, fmt.Errorf("list the nodes of kind cluster %q: %w", clusterName, err)
	}
	var found []node
	for _, name := range strings.Fields(out) {
		// Only inspect speaks the same language in all three runtimes.
		out, err := c.run(ctx, "inspect", "--type", "container", "--format",
			`{{.State.Status}} {{index .Config.Labels "`+kindRoleLabel+`"}}`, name)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, fmt.Errorf("inspect node %s: %w", name, err)
		case strings.Contains(strings.ToLower(err.Error()), "no such"):
			continue // it went away just now
		default:
			out = damaged // listed, yet not there: its removal was cut off
		}
		state, role, _ := strings.Cut(strings.TrimSpace(out), " ")
		found = append(found, node{name: name, role: role, state: strings.ToLower(state)})
	}
	return found, nil
}

// found is what there is under the cluster's name.
type found struct {
	nodes    []node
	journal  bool // making or deleting it was begun by podproof and not finished
	labelled bool // the kubeadm configuration holds our label
	plain    bool // a kubeadm configuration without our label
}

func (f found) absent() bool { return len(f.nodes) == 0 }

// foreign tells that somebody else made the cluster. The journal alone makes
// it ours only as long as no configuration says otherwise: it may have been
// left behind when the nodes were removed with other tools.
func (f found) foreign() bool {
	return !f.absent() && !f.labelled && (f.plain || !f.journal)
}

// halfMade tells that the process which made or deleted the cluster died
// meanwhile.
func (f found) halfMade() bool {
	return !f.absent() && !f.foreign() && f.journal
}

// stopped lists the containers that do not run.
func (f found) stopped() []node {
	var stopped []node
	for _, n := range f.nodes {
		if !n.running() {
			stopped = append(stopped, n)
		}
	}
	return stopped
}

// members counts the nodes of Kubernetes.
func (f found) members() int {
	count := 0
	for _, n := range f.nodes {
		if n.kubernetes() {
			count++
		}
	}
	return count
}

// find looks at what there is under the cluster's name and whose it is.
func (p *Provider) find(ctx context.Context, cli *cli) (found, error) {
	var f found
	var err error
	if f.nodes, err = cli.nodes(ctx, p.opts.Name); err != nil || f.absent() {
		return f, err
	}
	if f.journal, err = cli.hasJournal(ctx, p.opts.Name); err != nil {
		return f, err
	}
	for _, n := range f.nodes {
		if !n.kubernetes() {
			continue
		}
		config, err := cli.read(ctx, n.name, kubeadmConfig)
		switch {
		case errors.Is(err, errNoFile):
		case err != nil:
			return f, err
		case strings.Contains(config, Label+"="+p.opts.Name):
			f.labelled = true
		default:
			f.plain = true
		}
	}
	return f, nil
}

var errNoFile = errors.New("no such file")

// read returns a container's file, wrapped in the tar format, running or not.
func (c *cli) read(ctx context.Context, container, path string) (string, error) {
	out, err := c.run(ctx, "cp", container+":"+path, "-")
	if err == nil {
		return out, nil
	}
	complaint := strings.ToLower(words(err, ""))
	for _, absent := range []string{"no such file", "could not find", "not found", "no such container"} {
		if strings.Contains(complaint, absent) {
			return "", errNoFile
		}
	}
	return "", fmt.Errorf("read %s of node %s: %w", path, container, err)
}

// start starts the containers that do not run, control planes first.
func (c *cli) start(ctx context.Context, nodes []node) error {
	for _, controlPlane := range []bool{true, false} {
		for _, n := range nodes {
			if (n.role == "control-plane") != controlPlane {
				continue
			}
			verb := "start"
			if n.state == "paused" {
				verb = "unpause"
			}
			if _, err := c.run(ctx, verb, n.name); err != nil {
				return fmt.Errorf("start node %s: %w", n.name, err)
			}
		}
	}
	return nil
}

// restart restarts every container.
func (c *cli) restart(ctx context.Context, nodes []node) error {
	for _, n := range nodes {
		if _, err := c.run(ctx, "restart", n.name); err != nil {
			return fmt.Errorf("restart node %s: %w", n.name, err)
		}
	}
	return nil
}

// journal names the volume that says that the cluster is being made or deleted.
func journal(clusterName string) string { return "podproof-kind-" + clusterName + "-unfinished" }

func (c *cli) hasJournal(ctx context.Context, clusterName string) (bool, error) {
	out, err := c.run(ctx, "volume", "ls", "--quiet")
	if err != nil {
		return false, fmt.Errorf("list volumes: %w", err)
	}
	for _, name := range strings.Fields(out) {
		if name == journal(clusterName) {
			return true, nil
		}
	}
	return false, nil
}

func (c *cli) writeJournal(ctx context.Context, clusterName string) error {
	if has, err := c.hasJournal(ctx, clusterName); err != nil || has {
		return err
	}
	if _, err := c.run(ctx, "volume", "create", "--label", Label+"="+clusterName, journal(clusterName)); err != nil {
		return fmt.Errorf("note that work on the cluster has begun: %w", err)
	}
	return nil
}

func (c *cli) removeJournal(ctx context.Context, clusterName string) error {
	has, err := c.hasJournal(ctx, clusterName)
	if err != nil || !has {
		return err
	}
	if _, err := c.run(ctx, "volume", "rm", journal(clusterName)); err != nil {
		return fmt.Errorf("remove the note that work on the cluster has begun: %w", err)
	}
	return nil
}
