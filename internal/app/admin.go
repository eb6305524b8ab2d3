package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/config"
)

// WithAdmin calls f with an administrator's access to the cluster: one that
// runs already, perhaps held by another process, or one that is started for
// the time of f.
func WithAdmin(ctx context.Context, c config.Config, log *slog.Logger, progress cluster.Progress, f func(*rest.Config) error) (err error) {
	p, err := Provider(ctx, c, log)
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		err = errors.Join(err, p.Close(stop))
	}()
	if err := p.Ensure(ctx, progress); err != nil {
		return fmt.Errorf("start the %s cluster: %w", p.Name(), err)
	}
	admin, err := restConfig(ctx, p)
	if err != nil {
		return err
	}
	return f(admin)
}

func restConfig(ctx context.Context, p cluster.Provider) (*rest.Config, error) {
	raw, err := p.Kubeconfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the %s cluster: %w", p.Name(), err)
	}
	admin, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the %s cluster: %w", p.Name(), err)
	}
	return admin, nil
}
