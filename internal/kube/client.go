// Package kube is podproof's side of a cluster: it provisions labs, applies
// and resets tasks, records what happens, and implements grader.Cluster on
// client-go.
package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/podproof/podproof/grader"
)

// Names and labels of what podproof makes in a cluster.
const (
	SystemNamespace = "podproof-system"
	LearnerAccount  = "podproof-learner"
	// LabelLab marks a lab's namespace; its value is the namespace's name.
	LabelLab = "podproof.dev/lab"
	// LabelScratch marks a namespace of a trial.
	LabelScratch = "podproof.dev/scratch"
	// LabelManaged marks every object that Provision makes.
	LabelManaged = "app.kubernetes.io/managed-by"
	// Manager is the value of LabelManaged and the field manager of writes.
	Manager = "podproof"
)

// Client works on one cluster with one identity. It is safe for concurrent use.
type Client struct {
	config  *rest.Config
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	meta    metadata.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper

	siblings func(namespace string) []string
	history  History
}

var _ grader.Cluster = (*Client)(nil)

// Option adjusts a Client.
type Option func(*Client)

// WithSiblings tells which other namespaces belong to the learner of a
// namespace; Elsewhere looks there.
func WithSiblings(siblings func(namespace string) []string) Option {
	return func(c *Client) { c.siblings = siblings }
}

// WithLabs is WithSiblings for a single learner: all namespaces are siblings.
func WithLabs(namespaces ...string) Option {
	return WithSiblings(func(string) []string { return namespaces })
}

// WithHistory fills snapshots with what a Recorder stored in h.
func WithHistory(h History) Option {
	return func(c *Client) { c.history = h }
}

// New returns a Client; it does not talk to the cluster yet.
func New(config *rest.Config, opts ...Option) (*Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = Manager
	// Grading lists many kinds at once and tests use many namespaces; the API
	// server's own fairness is what bounds it.
	config.QPS, config.Burst = 400, 800
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return clock{next} })

	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"

	c := &Client{config: config, siblings: func(string) []string { return nil }}
	// One HTTP client serves all, so that connections are shared.
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kube client: %w", err)
	}
	typed, err := kubernetes.NewForConfigAndClient(binary, httpClient)
	if err != nil {
		return nil, fmt.Errorf("kube client: %w", err)
	}
	c.typed = typed
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("kube client: %w", err)
	}
	if c.meta, err = metadata.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("kube client: %w", err)
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// With returns a Client of the same connections with more options.
func (c *Client) With(opts ...Option) *Client {
	other := *c
	for _, o := range opts {
		o(&other)
	}
	return &other
}

// Identity tells this cluster from every other one, also from one of the same
// address that was made anew. Provision must have run.
func (c *Client) Identity(ctx context.Context) (string, error) {
	ns, err := c.typed.CoreV1().Namespaces().Get(ctx, SystemNamespace, metav1.GetOptions{})
	if err != nil {
		return "", classify("identify the cluster", err)
	}
	return string(ns.UID), nil
}

// Version returns the cluster's version, "v1.35.4"; it serves as a check that
// the cluster answers.
func (c *Client) Version(ctx context.Context) (string, error) {
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	raw, err := c.typed.Discovery().RESTClient().Get().AbsPath("/version").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return "", classify("ask the cluster's version", err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", fmt.Errorf("ask the cluster's version: %w", err)
	}
	return v.GitVersion, nil
}
