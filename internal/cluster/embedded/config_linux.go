package embedded

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/netip"
	"path"
	"path/filepath"
	"text/template"
)

// host is what the settings depend on besides the instance.
type host struct {
	// MayLowerOOMScore: the capability to protect a process from the kernel's
	// out-of-memory killer is missing in some containers and virtual machines.
	MayLowerOOMScore bool
	// AppArmor is on and can be used.
	AppArmor bool
	// Snapshotter is how containerd lays the layers of images over one another.
	Snapshotter string
	// CNI is the folder of the CNI plugins, Runc the path of runc.
	CNI, Runc string
	// Resolvers are the name servers that the node can reach.
	Resolvers []netip.Addr
}

// settings are what the templates of the files see.
type settings struct {
	instance
	host
	Node         string
	NodeIP       netip.Addr
	DNS          netip.Addr
	Cgroup       string
	Dir          string
	SandboxImage string
}

const pauseImage = "registry.k8s.io/pause:3.10.1"

func newSettings(inst instance, h host) settings {
	return settings{
		instance: inst, host: h, Node: nodeName, NodeIP: inst.nodeAddress(), DNS: inst.dnsAddress(),
		Cgroup: inst.cgroup(), Dir: nodeDir, SandboxImage: pauseImage,
	}
}

// files are the configuration files of the components, by their path below the
// data folder.
func (s settings) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, text := range map[string]string{
		"etc/containerd.toml": containerdConfig, "etc/kubelet.yaml": kubeletConfig, "etc/kube-proxy.yaml": proxyConfig,
		"etc/cni/10-podproof.conflist": cniConfig, "etc/Corefile": corefile, "etc/resolv.conf": resolvConf,
	} {
		var b bytes.Buffer
		t, err := template.New(name).Parse(text)
		if err == nil {
			err = t.Execute(&b, s)
		}
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", name, err)
		}
		files[name] = b.Bytes()
	}
	return files, nil
}

// The driver is cgroupfs also where systemd runs the machine: all of the node's
// groups are below one of our own, which systemd leaves alone.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {{.NodeIP}}
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: {{.Dir}}/pki/cluster.crt}
authorization: {mode: Webhook}
tlsCertFile: {{.Dir}}/pki/kubelet.crt
tlsPrivateKeyFile: {{.Dir}}/pki/kubelet.key
healthzPort: 0
readOnlyPort: 0
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /{{.Cgroup}}
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: []
{{- if not .MayLowerOOMScore}}
oomScoreAdj: 0
{{- end}}
clusterDomain: cluster.local
clusterDNS: [{{.DNS}}]
resolvConf: {{.Dir}}/etc/resolv.conf
maxPods: 250
serializeImagePulls: false
# Images that were loaded from files can't be pulled again where there is no registry.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}
containerLogMaxSize: 10Mi
containerLogMaxFiles: 3
`

const proxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: {{.Node}}
clientConnection: {kubeconfig: {{.Dir}}/etc/kube-proxy.kubeconfig}
clusterCIDR: {{.Pods}}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
oomScoreAdj: 0
# Zero leaves the machine's limits alone, which a network namespace can't change.
conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
iptables: {minSyncPeriod: 200ms, syncPeriod: 30s}
`

const containerdConfig = `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = [
  "io.containerd.nri.v1.nri", "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs",
  "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.opt",
]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "{{.Snapshotter}}"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "{{.SandboxImage}}"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = {{not .MayLowerOOMScore}}
  disable_apparmor = {{not .AppArmor}}
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["{{.CNI}}"]
    conf_dir = "{{.Dir}}/etc/cni"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = "{{.Runc}}"
      SystemdCgroup = false
`

// A link per Pod and a route to it, instead of a bridge: all that Pods send one
// another passes the node's rules, so Services work without the kernel module
// that makes bridges ask iptables. Leases are kept where a stop forgets them.
const cniConfig = `{
  "cniVersion": "1.0.0",
  "name": "podproof",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": true,
      "ipam": {
        "type": "host-local",
        "dataDir": "/run/cni",
        "ranges": [[{"subnet": "{{.Pods}}"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

const corefile = `.:53 {
  errors
  health 127.0.0.1:8181
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig {{.Dir}}/etc/coredns.kubeconfig
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 5
  }
{{- if .Resolvers}}
  forward . {{range .Resolvers}}{{.}} {{end}}
{{- end}}
  cache 5 {
    denial 9984 1
  }
  loadbalance
}
`

const resolvConf = `{{range .Resolvers}}nameserver {{.}}
{{end}}`

// command is how a component is started inside the node.
type command struct {
	name string
	args []string
	env  []string
}

// commands are the components, in the order in which they are stopped last to first.
func (s settings) commands() []command {
	pki := func(name string) string { return path.Join(nodeDir, "pki", name) }
	conf := func(name string) string { return path.Join(nodeDir, "etc", name) }
	lean := []string{"GOGC=60"}
	return []command{
		{name: "etcd", env: lean, args: []string{
			"--name=podproof", "--data-dir=/var/lib/etcd",
			"--listen-client-urls=https://127.0.0.1:2379", "--advertise-client-urls=https://127.0.0.1:2379",
			"--listen-peer-urls=https://127.0.0.1:2380", "--initial-advertise-peer-urls=https://127.0.0.1:2380",
			"--initial-cluster=podproof=https://127.0.0.1:2380",
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + pki("etcd.crt"),
			"--peer-cert-file=" + pki("etcd-server.crt"), "--peer-key-file=" + pki("etcd-server.key"),
			"--client-cert-auth", "--trusted-ca-file=" + pki("etcd.crt"),
			"--cert-file=" + pki("etcd-server.crt"), "--key-file=" + pki("etcd-server.key"),
			"--auto-compaction-retention=1h", "--snapshot-count=5000", "--log-level=warn",
		}},
		{name: "containerd", env: lean, args: []string{"--config=" + conf("containerd.toml"), "--log-level=warn"}},
		{name: "kube-apiserver", env: lean, args: []string{
			"--advertise-address=" + s.NodeIP.String(), "--secure-port=6443", "--anonymous-auth=false",
			"--etcd-servers=https://127.0.0.1:2379", "--etcd-cafile=" + pki("etcd.crt"),
			"--etcd-certfile=" + pki("etcd-client.crt"), "--etcd-keyfile=" + pki("etcd-client.key"),
			"--client-ca-file=" + pki("cluster.crt"),
			"--tls-cert-file=" + pki("kube-apiserver.crt"), "--tls-private-key-file=" + pki("kube-apiserver.key"),
			"--service-account-key-file=" + pki("tokens.key"), "--service-account-signing-key-file=" + pki("tokens.key"),
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-cluster-ip-range=" + s.Services.String(),
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
			"--kubelet-certificate-authority=" + pki("cluster.crt"),
			"--kubelet-client-certificate=" + pki("kubelet-client.crt"), "--kubelet-client-key=" + pki("kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP", "--profiling=false",
		}},
		{name: "kube-controller-manager", env: lean, args: []string{
			"--kubeconfig=" + conf("kube-controller-manager.kubeconfig"), "--secure-port=0", "--leader-elect=false", "--profiling=false",
			"--service-account-private-key-file=" + pki("tokens.key"), "--root-ca-file=" + pki("cluster.crt"),
			"--cluster-signing-cert-file=" + pki("cluster.crt"), "--cluster-signing-key-file=" + pki("cluster.key"),
			"--use-service-account-credentials=true",
			// What serves machines that join, clouds and nodes that share ranges has no work here.
			"--controllers=*,-bootstrap-signer-controller,-token-cleaner-controller,-cloud-node-lifecycle-controller," +
				"-node-ipam-controller,-node-route-controller,-service-lb-controller,-storage-version-migrator-controller",
		}},
		{name: "kube-scheduler", env: lean, args: []string{
			"--kubeconfig=" + conf("kube-scheduler.kubeconfig"), "--secure-port=0", "--leader-elect=false", "--profiling=false",
		}},
		{name: "kubelet", env: lean, args: []string{
			"--config=" + conf("kubelet.yaml"), "--kubeconfig=" + conf("kubelet.kubeconfig"),
			"--hostname-override=" + nodeName, "--node-ip=" + s.NodeIP.String(),
		}},
		{name: "kube-proxy", env: lean, args: []string{"--config=" + conf("kube-proxy.yaml")}},
		{name: "coredns", env: lean, args: []string{"-conf", conf("Corefile")}},
	}
}

// caller is a component that talks to the API server, with the user it is there.
type caller struct {
	name, user string
	groups     []string
}

func callers() []caller {
	return []caller{
		{name: "admin", user: "podproof-admin", groups: []string{"system:masters"}},
		{name: "kube-controller-manager", user: "system:kube-controller-manager"},
		{name: "kube-scheduler", user: "system:kube-scheduler"},
		{name: "kubelet", user: "system:node:" + nodeName, groups: []string{"system:nodes"}},
		{name: "kube-proxy", user: "system:kube-proxy"},
		{name: "coredns", user: dnsUser},
	}
}

// writeCredentials makes the authorities where they are missing, and every
// certificate and kubeconfig anew.
func (s settings) writeCredentials(dir string) error {
	pki := filepath.Join(dir, "pki")
	clusterCA, err := loadAuthority(pki, "cluster")
	if err != nil {
		return err
	}
	// etcd trusts an authority of its own: who may call the API server may not
	// for that reason read the store.
	etcdCA, err := loadAuthority(pki, "etcd")
	if err != nil {
		return err
	}
	if err := loadSigningKey(filepath.Join(pki, "tokens.key")); err != nil {
		return err
	}
	local := netip.MustParseAddr("127.0.0.1")
	for name, c := range map[string]struct {
		ca *authority
		id identity
	}{
		"etcd-server": {etcdCA, identity{user: "etcd", addresses: []netip.Addr{local}}},
		"etcd-client": {etcdCA, identity{user: "kube-apiserver"}},
		"kube-apiserver": {clusterCA, identity{user: "kube-apiserver", addresses: []netip.Addr{local, s.NodeIP, s.apiAddress()},
			hosts: []string{"localhost", nodeName, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}}},
		"kubelet":        {clusterCA, identity{user: "system:node:" + nodeName, groups: []string{"system:nodes"}, addresses: []netip.Addr{s.NodeIP}, hosts: []string{nodeName}}},
		"kubelet-client": {clusterCA, identity{user: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}}},
	} {
		cert, key, err := c.ca.issue(c.id)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(pki, name+".crt"), cert, 0o644); err != nil {
			return fmt.Errorf("keep the certificate %s: %w", name, err)
		}
		if err := writeFile(filepath.Join(pki, name+".key"), key, 0o600); err != nil {
			return fmt.Errorf("keep the key %s: %w", name, err)
		}
	}
	for _, c := range callers() {
		cert, key, err := clusterCA.issue(identity{user: c.user, groups: c.groups})
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, "etc", c.name+".kubeconfig"), kubeconfig(s.server(), clusterCA.pem, cert, key), 0o600); err != nil {
			return fmt.Errorf("keep the kubeconfig of %s: %w", c.name, err)
		}
	}
	return nil
}

func kubeconfig(server string, ca, cert, key []byte) []byte {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: podproof
  cluster: {server: %q, certificate-authority-data: %s}
users:
- name: podproof
  user: {client-certificate-data: %s, client-key-data: %s}
contexts:
- name: podproof
  context: {cluster: podproof, user: podproof}
current-context: podproof
`, server, b64(ca), b64(cert), b64(key))
}
