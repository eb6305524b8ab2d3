// Package health looks at a cluster from outside, as the providers need it
// to tell a cluster that takes Pods from one that does not yet.
package health

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// lookTimeout bounds one request, so that a host that swallows packets cannot
// hold a look for ever.
const lookTimeout = 10 * time.Second

// Report is what one look saw.
type Report struct {
	Version string // "v1.35.4"
	Nodes   []Node
	// NodesHidden says that this identity may not list nodes.
	NodesHidden bool
	// DNSReady is false while the deployment of the cluster's DNS has no
	// available Pod; true where there is none by the usual name.
	DNSReady bool
}

// Node is one node's state.
type Node struct {
	Name   string
	Ready  bool
	Reason string // the Ready condition's message, when not ready
	// Heard is when the kubelet last renewed its lease, by its own clock;
	// zero if it has none or this identity may not read it.
	Heard time.Time
}

// HeardSince tells whether every node has given a sign of life after the
// earlier look. Its two times are of one clock, so that of this machine does
// not matter.
func (r Report) HeardSince(earlier Report) bool {
	before := map[string]time.Time{}
	for _, n := range earlier.Nodes {
		before[n.Name] = n.Heard
	}
	for _, n := range r.Nodes {
		if then, known := before[n.Name]; known && !n.Heard.After(then) {
			return false
		}
	}
	return true
}

// Waiting says in English what keeps the cluster from taking Pods, with at
// least want nodes; it is empty when nothing does.
func (r Report) Waiting(want int) string {
	if r.NodesHidden {
		return ""
	}
	if len(r.Nodes) < want {
		return fmt.Sprintf("%d of %d nodes have joined", len(r.Nodes), want)
	}
	var waits []string
	for _, n := range r.Nodes {
		if !n.Ready {
			waits = append(waits, fmt.Sprintf("node %s is not Ready: %s", n.Name, n.Reason))
		}
	}
	if len(waits) == 0 && !r.DNSReady {
		waits = append(waits, "cluster DNS has no ready Pod")
	}
	return strings.Join(waits, "; ")
}

// Look asks the API server once. The error is that of the first request which
// failed, as client-go gives it.
func Look(ctx context.Context, config *rest.Config) (Report, error) {
	config = rest.CopyConfig(config)
	config.Timeout = lookTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return Report{}, fmt.Errorf("read the client configuration: %w", err)
	}
	version, err := version(ctx, client)
	if err != nil {
		return Report{}, err
	}
	report := Report{Version: version, DNSReady: true}

	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		report.NodesHidden = true
	case err != nil:
		return report, err
	default:
		for _, n := range nodes.Items {
			report.Nodes = append(report.Nodes, node(n))
		}
	}

	leases, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
	case err != nil:
		return report, err
	default:
		for _, l := range leases.Items {
			for i := range report.Nodes {
				if report.Nodes[i].Name == l.Name && l.Spec.RenewTime != nil {
					report.Nodes[i].Heard = l.Spec.RenewTime.Time
				}
			}
		}
	}

	dns, err := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
	case err != nil:
		return report, err
	default:
		report.DNSReady = dns.Status.AvailableReplicas > 0
	}
	return report, nil
}

// Config reads a kubeconfig's current context.
func Config(kubeconfig []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return config, nil
}

// version exists because the discovery client's ServerVersion takes no context.
func version(ctx context.Context, client kubernetes.Interface) (string, error) {
	var info struct{ GitVersion string }
	raw, err := client.Discovery().RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", fmt.Errorf("read /version: %w", err)
	}
	return info.GitVersion, nil
}

func node(n corev1.Node) Node {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return Node{Name: n.Name, Ready: c.Status == corev1.ConditionTrue, Reason: c.Message}
		}
	}
	return Node{Name: n.Name, Reason: "the kubelet has not reported yet"}
}
