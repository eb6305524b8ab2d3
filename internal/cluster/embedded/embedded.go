// Package embedded runs a one-node Kubernetes cluster as child processes of
// this one: etcd, containerd, the control plane, a kubelet, kube-proxy and
// cluster DNS, on Linux, as root, without Docker and without a registry.
//
// The whole node lives in process, mount, network, host-name and IPC
// namespaces of its own, as a container would. That is what makes it tidy: its
// ports, bridge devices, iptables chains, mounts and processes are invisible to
// the machine and to other instances, every address inside may be the customary
// one, and when the first process of the namespaces ends, the kernel ends all
// others and takes mounts and devices away, also after kill -9. On the machine
// itself an instance owns one network link, two iptables rules and one control
// group; see node.
package embedded

import (
	"log/slog"
	"os"
	"path/filepath"
)

// Options say where a cluster lives and what it is made of.
type Options struct {
	// Dir is the instance's data folder: state, certificates, container images,
	// logs. Two running clusters need two folders.
	Dir string
	// Bin holds kubernetes, containerd, containerd-shim-runc-v2, ctr and pause,
	// as `make components` builds them.
	Bin string
	// Images holds docker-format archives (*.tar) that Ensure puts into the
	// cluster; one named pause.tar must be among them.
	Images string
	// Logger hears what happens after Ensure has returned, such as a component
	// that dies. Default: slog.Default().
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	for _, p := range []*string{&o.Dir, &o.Bin, &o.Images} {
		if abs, err := filepath.Abs(*p); err == nil {
			*p = abs
		}
	}
	return o
}

// CacheDir is where the make targets put components and images:
// $PODPROOF_CACHE, else ~/.cache/podproof.
func CacheDir() string {
	if dir := os.Getenv("PODPROOF_CACHE"); dir != "" {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "podproof")
}
