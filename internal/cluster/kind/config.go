package kind

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
)

const (
	configVersion = "kind.x-k8s.io/v1alpha4"
	configKind    = "Cluster"
)

// buildConfig reads a kind configuration strictly and completes it: the
// cluster's name, an image for nodes without one, and the label that marks
// the nodes as podproof's.
func buildConfig(raw []byte, name, image string) (*v1alpha4.Cluster, error) {
	config := &v1alpha4.Cluster{}
	if len(bytes.TrimSpace(raw)) > 0 {
		d := yaml.NewDecoder(bytes.NewReader(raw))
		d.KnownFields(true)
		if err := d.Decode(config); err != nil {
			return nil, fmt.Errorf("kind configuration: %w", err)
		}
		if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
			return nil, errors.New("kind configuration: more than one YAML document")
		}
		if config.APIVersion != configVersion || config.Kind != configKind {
			return nil, fmt.Errorf("kind configuration: apiVersion %q, kind %q: want %q, %q",
				config.APIVersion, config.Kind, configVersion, configKind)
		}
	}
	config.APIVersion, config.Kind = configVersion, configKind

	if config.Name != "" && config.Name != name {
		return nil, fmt.Errorf("kind configuration: it names the cluster %q, but podproof's is %q: leave the name out, or give podproof the same", config.Name, name)
	}
	config.Name = name

	if len(config.Nodes) == 0 {
		config.Nodes = []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole}}
	}
	for i := range config.Nodes {
		node := &config.Nodes[i]
		if node.Image == "" {
			node.Image = image
		}
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[Label] = name
	}
	return config, nil
}

// createOptions keep kind from waiting (podproof does that itself, on all
// nodes), from the user's kubeconfig, and from cleaning up after a failure: a
// cancelled creation's programs are stopped, and a removal that is stopped
// half-way leaves a container that nothing can use or see rightly.
func createOptions(req request) []cluster.CreateOption {
	return []cluster.CreateOption{
		cluster.CreateWithRawConfig(req.Config),
		cluster.CreateWithKubeconfigPath(filepath.Join(req.Scratch, "kubeconfig")),
		cluster.CreateWithWaitForReady(0),
		cluster.CreateWithRetain(true),
		cluster.CreateWithDisplayUsage(false),
		cluster.CreateWithDisplaySalutation(false),
	}
}
