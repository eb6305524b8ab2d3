// Package existing uses a cluster that somebody else runs, named by a
// kubeconfig and a context. It never falls back to a current context, for that
// may be anything, a production cluster included.
package existing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/health"
)

// oldest is the first release whose native sidecars are on by default.
const oldest = "1.29.0"

// Options name the cluster.
type Options struct {
	// Kubeconfig is a file's path. If empty, the files of $KUBECONFIG or
	// ~/.kube/config are read, and then Context must be given.
	Kubeconfig string
	// Context may be left empty only if Kubeconfig is given and has one
	// context.
	Context string
	// ReadyTimeout bounds Ensure's wait; one minute if zero.
	ReadyTimeout time.Duration
}

// Provider implements cluster.Provider for a cluster that is already there.
type Provider struct {
	opts       Options
	context    string // the one that was chosen
	server     string
	kubeconfig []byte // only that context, with its files' contents inside
	config     *rest.Config
}

var _ cluster.Provider = (*Provider)(nil)

// New reads the kubeconfig and chooses the context; it does not connect.
func New(o Options) (*Provider, error) {
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = time.Minute
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	where := strings.Join(rules.Precedence, ", ")
	if o.Kubeconfig != "" {
		rules, where = &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}, o.Kubeconfig
	}
	all, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", where, err)
	}
	name, err := choose(all, o)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", where, err)
	}
	all.CurrentContext = name
	if err := clientcmdapi.MinifyConfig(all); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: context %q: %w", where, name, err)
	}
	if err := clientcmdapi.FlattenConfig(all); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: context %q: %w", where, name, err)
	}
	raw, err := clientcmd.Write(*all)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: context %q: %w", where, name, err)
	}
	config, err := health.Config(raw)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: context %q: %w", where, name, err)
	}
	return &Provider{opts: o, context: name, server: config.Host, kubeconfig: raw, config: config}, nil
}

// choose finds the context that was asked for.
func choose(all *clientcmdapi.Config, o Options) (string, error) {
	names := make([]string, 0, len(all.Contexts))
	for name := range all.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		return "", errors.New("it has no contexts")
	case o.Context != "":
		if _, ok := all.Contexts[o.Context]; !ok {
			return "", fmt.Errorf("no context %q; there are: %s", o.Context, list)
		}
		return o.Context, nil
	case o.Kubeconfig == "":
		return "", fmt.Errorf("name the context to use: the current one is never taken; there are: %s", list)
	case len(names) > 1:
		return "", fmt.Errorf("it has %d contexts, name the one to use: %s", len(names), list)
	}
	return names[0], nil
}

// Name is "existing".
func (p *Provider) Name() string { return "existing" }

// Kubeconfig returns the chosen context alone, independent of other files.
func (p *Provider) Kubeconfig(context.Context) ([]byte, error) {
	return slices.Clone(p.kubeconfig), nil
}

// Ensure checks that the API server answers, is of a version that the labs can
// use, and has Ready nodes; it waits for nodes, and changes nothing. The
// nodes pull the labs' images themselves.
func (p *Provider) Ensure(ctx context.Context, progress cluster.Progress) error {
	emit := func(e cluster.Event) {
		if progress != nil {
			progress(e)
		}
	}
	const step = "reach"
	text := fmt.Sprintf("Checking cluster %s (context %s)", p.server, p.context)
	emit(cluster.Event{Step: step, Text: text})
	err := p.awaitReady(ctx)
	emit(cluster.Event{Step: step, Text: text, Done: true, Err: err})
	if err != nil {
		return err
	}
	emit(cluster.Event{Step: "images", Text: "The cluster's nodes pull images from their registries", Done: true})
	return nil
}

func (p *Provider) awaitReady(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, p.opts.ReadyTimeout)
	defer cancel()
	for {
		report, err := p.look(limited)
		waiting := report.Waiting(1)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case waiting == "":
			return nil
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("context %q: the cluster is not ready after %s: %s", p.context, p.opts.ReadyTimeout, waiting)
		case <-time.After(time.Second):
		}
	}
}

// look asks the cluster once; its errors tell what to do.
func (p *Provider) look(ctx context.Context) (health.Report, error) {
	report, err := health.Look(ctx, p.config)
	if err != nil {
		return report, fmt.Errorf("context %q: %w", p.context, explain(p.server, err))
	}
	is, err := version.ParseGeneric(report.Version)
	if err != nil {
		return report, fmt.Errorf("context %q: version %q: %w", p.context, report.Version, err)
	}
	if is.LessThan(version.MustParseGeneric(oldest)) {
		return report, fmt.Errorf("context %q: Kubernetes %s is too old: the labs need native sidecars, %s or later", p.context, report.Version, oldest)
	}
	return report, nil
}

// explain puts what people can act on before an error of the client's.
func explain(server string, err error) error {
	var dns *net.DNSError
	var uerr *url.Error
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept these credentials; log in again or renew them: %w", server, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s does not allow this identity enough: %w", server, err)
	case errors.As(err, &dns):
		return fmt.Errorf("the name of %s can't be resolved; check the address in the kubeconfig and the network: %w", server, err)
	case strings.Contains(err.Error(), "x509:"), strings.Contains(err.Error(), "tls:"):
		return fmt.Errorf("the certificate of %s is not the one that the kubeconfig expects: %w", server, err)
	case strings.Contains(err.Error(), "connection refused"):
		return fmt.Errorf("nothing listens at %s; is the cluster running? %w", server, err)
	case errors.As(err, &uerr) && uerr.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer; check the network, a VPN, or proxy settings: %w", server, err)
	}
	return err
}

// LoadImages can't put images into nodes that are not ours: its error wraps
// errors.ErrUnsupported.
func (p *Provider) LoadImages(context.Context, []string, cluster.Progress) error {
	return fmt.Errorf("load images: the nodes of an existing cluster pull from their registries: %w", errors.ErrUnsupported)
}

// Status looks at the cluster once.
func (p *Provider) Status(ctx context.Context) (cluster.Status, error) {
	report, err := p.look(ctx)
	switch {
	case ctx.Err() != nil:
		return cluster.Status{}, context.Cause(ctx)
	case err != nil:
		return cluster.Status{State: cluster.Broken, Version: report.Version, Detail: err.Error()}, nil
	}
	s := cluster.Status{State: cluster.Ready, Version: report.Version, Detail: fmt.Sprintf("context %s, %s", p.context, p.server)}
	if report.NodesHidden {
		s.Detail += "; this identity may not see the nodes"
	}
	if waiting := report.Waiting(1); waiting != "" {
		s.State, s.Detail = cluster.Starting, waiting
	}
	return s, nil
}

// Close does nothing: the cluster is not ours.
func (p *Provider) Close(context.Context) error { return nil }

// Delete removes nothing: the cluster is not ours. What podproof provisioned
// inside it is removed by kube.Client.
func (p *Provider) Delete(context.Context, cluster.Progress) error { return nil }
