// Package config turns flags and environment variables into a checked Config.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Config is everything that can be set. A flag wins over its environment
// variable, and that over the default.
type Config struct {
	// Data is the folder of the database, kubeconfigs and an embedded
	// cluster's state; Cache that of components and images.
	Data  string
	Cache string
	// Addr is where the pages are served.
	Addr string
	// Labs are folders of labs beside the embedded catalogue.
	Labs []string

	// Cluster is auto, kind, existing or embedded.
	Cluster string
	// Kubeconfig and Context name an existing cluster. They are never taken
	// from KUBECONFIG or the user's current context.
	Kubeconfig string
	Context    string
	// ClusterName is the name of the cluster that podproof makes.
	ClusterName string
	// NodeImage and KindConfig are for kind; empty means its defaults.
	NodeImage  string
	KindConfig string

	LogLevel slog.Level
}

// setting is one thing that can be set: --name, or PODPROOF_NAME.
type setting struct {
	name, fallback, usage string
}

// Flags are the flags of a command that takes a Config.
type Flags struct {
	set    *pflag.FlagSet
	values map[string]*string
	labs   *[]string
}

// Bind adds the flags to a flag set.
func Bind(set *pflag.FlagSet) *Flags {
	f := &Flags{set: set, values: make(map[string]*string)}
	for _, s := range settings() {
		usage := s.usage + " ($" + variable(s.name) + ")"
		f.values[s.name] = set.String(s.name, "", usage)
		if s.fallback != "" {
			set.Lookup(s.name).Usage += fmt.Sprintf(" (default %q)", s.fallback)
		}
	}
	f.labs = set.StringArray("labs", nil,
		"folder of labs beside the built-in ones; may be given more than once ($PODPROOF_LABS, separated like PATH)")
	return f
}

func settings() []setting {
	return []setting{
		{"data", "", "folder of progress and cluster state; default $XDG_DATA_HOME/podproof"},
		{"cache", "", "folder of components and images; default $XDG_CACHE_HOME/podproof"},
		{"addr", "127.0.0.1:8080", "address to serve pages on"},
		{"cluster", "auto", "where the cluster comes from: auto, kind, existing or embedded"},
		{"kubeconfig", "", "kubeconfig of an existing cluster"},
		{"context", "", "context in that kubeconfig; may be left out only where it has a single one, since the current context is never used by itself"},
		{"cluster-name", "podproof", "name of the cluster that podproof makes"},
		{"node-image", "", "node image for kind"},
		{"kind-config", "", "file with a kind cluster configuration"},
		{"log-level", "info", "debug, info, warn or error"},
	}
}

func variable(name string) string {
	return "PODPROOF_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Load puts the Config together and checks it. getenv is os.Getenv outside of
// tests. The error joins every problem there is.
func (f *Flags) Load(getenv func(string) string) (Config, error) {
	get := func(name string) string {
		if f.set.Changed(name) {
			return *f.values[name]
		}
		if v := getenv(variable(name)); v != "" {
			return v
		}
		i := slices.IndexFunc(settings(), func(s setting) bool { return s.name == name })
		return settings()[i].fallback
	}
	var problems []error
	c := Config{
		Addr:        get("addr"),
		Cluster:     get("cluster"),
		Kubeconfig:  get("kubeconfig"),
		Context:     get("context"),
		ClusterName: get("cluster-name"),
		NodeImage:   get("node-image"),
		KindConfig:  get("kind-config"),
		Labs:        *f.labs,
	}
	if !f.set.Changed("labs") {
		if v := getenv("PODPROOF_LABS"); v != "" {
			c.Labs = filepath.SplitList(v)
		}
	}
	for _, d := range []struct {
		to                        *string
		given, base, below, label string
	}{
		{&c.Data, get("data"), getenv("XDG_DATA_HOME"), ".local/share", "data"},
		{&c.Cache, get("cache"), getenv("XDG_CACHE_HOME"), ".cache", "cache"},
	} {
		dir, err := folder(d.given, d.base, getenv("HOME"), d.below)
		if err != nil {
			problems = append(problems, fmt.Errorf("--%s: %w", d.label, err))
		}
		*d.to = dir
	}
	if err := c.LogLevel.UnmarshalText([]byte(get("log-level"))); err != nil {
		problems = append(problems, fmt.Errorf("--log-level: %q is none of debug, info, warn, error", get("log-level")))
	}
	problems = append(problems, c.check()...)
	return c, errors.Join(problems...)
}

// folder chooses a folder and makes its path absolute, since an embedded
// cluster's parts run elsewhere.
func folder(given, base, home, below string) (string, error) {
	switch {
	case given != "":
	case base != "":
		given = filepath.Join(base, "podproof")
	case home != "":
		given = filepath.Join(home, below, "podproof")
	default:
		return "", errors.New("there is no home folder to put it in; name a folder")
	}
	abs, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("make %q absolute: %w", given, err)
	}
	return abs, nil
}

// Names become parts of Docker containers, network bridges and file names.
var clusterName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

func (c *Config) check() []error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if !slices.Contains([]string{"auto", "kind", "existing", "embedded"}, c.Cluster) {
		bad("--cluster: %q is none of auto, kind, existing, embedded", c.Cluster)
	}
	if _, port, err := net.SplitHostPort(c.Addr); err != nil {
		bad("--addr: %q is not HOST:PORT", c.Addr)
	} else if n, err := net.LookupPort("tcp", port); err != nil {
		bad("--addr: %q is no port", port)
	} else if n < 0 || n > 65535 {
		bad("--addr: port %d is not between 0 and 65535", n)
	}
	if !clusterName.MatchString(c.ClusterName) {
		bad("--cluster-name: %q must be 1 to 32 lower-case letters, digits and inner dashes", c.ClusterName)
	}
	if c.Cluster == "existing" && c.Kubeconfig == "" {
		bad("--cluster=existing: name the cluster's kubeconfig with --kubeconfig; the current context is never used by itself")
	}
	if c.Kubeconfig != "" && c.Cluster != "existing" && c.Cluster != "auto" {
		bad("--kubeconfig: only an existing cluster takes one, not --cluster=%s", c.Cluster)
	}
	if c.Context != "" && c.Kubeconfig == "" {
		bad("--context: name the kubeconfig that holds it with --kubeconfig")
	}
	for _, file := range []struct{ flag, path string }{{"kubeconfig", c.Kubeconfig}, {"kind-config", c.KindConfig}} {
		if file.path == "" {
			continue
		}
		if info, err := os.Stat(file.path); err != nil {
			bad("--%s: %w", file.flag, err)
		} else if info.IsDir() {
			bad("--%s: %s is a folder", file.flag, file.path)
		}
	}
	for _, dir := range c.Labs {
		if info, err := os.Stat(dir); err != nil {
			bad("--labs: %w", err)
		} else if !info.IsDir() {
			bad("--labs: %s is not a folder", dir)
		}
	}
	return problems
}
