//go:build !linux

package embedded

import (
	"context"
	"errors"

	"github.com/podproof/podproof/internal/cluster"
)

var errLinuxOnly = errors.New("an embedded cluster needs Linux; use --cluster=kind with Docker, or --cluster=existing")

// Provider of the embedded cluster: on this operating system there is none.
type Provider struct{}

// New never fails; Ensure says why there can be no cluster.
func New(Options) *Provider { return &Provider{} }

// Name is "embedded".
func (*Provider) Name() string { return "embedded" }

// Ensure fails.
func (*Provider) Ensure(context.Context, cluster.Progress) error { return errLinuxOnly }

// Kubeconfig fails.
func (*Provider) Kubeconfig(context.Context) ([]byte, error) { return nil, errLinuxOnly }

// LoadImages fails.
func (*Provider) LoadImages(context.Context, []string, cluster.Progress) error { return errLinuxOnly }

// Status says that there is no cluster.
func (*Provider) Status(context.Context) (cluster.Status, error) {
	return cluster.Status{State: cluster.Absent, Detail: errLinuxOnly.Error()}, nil
}

// Close has nothing to release.
func (*Provider) Close(context.Context) error { return nil }

// Delete has nothing to remove.
func (*Provider) Delete(context.Context, cluster.Progress) error { return nil }
