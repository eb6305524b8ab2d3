package embedded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	leastSpace = 1 << 30 // bytes free in the data folder
	// capSysResource is CAP_SYS_RESOURCE's number.
	capSysResource = 24
)

// preflight looks for everything that a start needs and reports all that is
// missing at once, each with its remedy.
func (p *Provider) preflight() (host, error) {
	var h host
	if os.Geteuid() != 0 {
		return h, errors.New("an embedded cluster needs root: run podproof as root (sudo), or use --cluster=kind with Docker")
	}
	var problems []error
	for _, name := range []string{"kubernetes", "containerd", "containerd-shim-runc-v2", "ctr", "pause"} {
		if _, err := exec.LookPath(filepath.Join(p.Bin, name)); err != nil {
			problems = append(problems, fmt.Errorf("%s is missing in %s: run `make components`", name, p.Bin))
		}
	}
	for _, tool := range []struct{ name, pkg string }{{"runc", "runc"}, {"iptables", "iptables"}, {"iptables-restore", "iptables"}, {"ip", "iproute2"}, {"mount", "mount"}} {
		path, err := exec.LookPath(tool.name)
		if err != nil {
			problems = append(problems, fmt.Errorf("the program %s is missing: apt-get install %s", tool.name, tool.pkg))
		}
		if tool.name == "runc" {
			h.Runc = path
		}
	}
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		if _, err := os.Stat(filepath.Join(dir, "ptp")); err == nil {
			h.CNI = dir
			break
		}
	}
	if h.CNI == "" {
		problems = append(problems, errors.New("the network plugins are missing: apt-get install containernetworking-plugins"))
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		problems = append(problems, fmt.Errorf("make the data folder: %w", err))
	} else if err := p.checkSpace(&h); err != nil {
		problems = append(problems, err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		problems = append(problems, err)
	}
	h.MayLowerOOMScore = hasCapability(string(status), capSysResource)
	_, parser := exec.LookPath("apparmor_parser")
	enabled, _ := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	h.AppArmor = parser == nil && strings.HasPrefix(string(enabled), "Y")
	h.Resolvers = hostResolvers()
	return h, errors.Join(problems...)
}

func (p *Provider) checkSpace(h *host) error {
	var st unix.Statfs_t
	if err := unix.Statfs(p.Dir, &st); err != nil {
		return fmt.Errorf("look at the data folder's file system: %w", err)
	}
	// Overlay mounts can't lie on one another.
	if h.Snapshotter = "overlayfs"; st.Type == unix.OVERLAYFS_SUPER_MAGIC {
		h.Snapshotter = "native"
	}
	if free := st.Bavail * uint64(st.Bsize); free < leastSpace {
		return fmt.Errorf("the disk is full: %s has %d MiB left and a cluster needs %d; make room, or set PODPROOF_DATA to a folder elsewhere",
			p.Dir, free>>20, leastSpace>>20)
	}
	return nil
}

// hasCapability reads /proc/self/status.
func hasCapability(status string, number int) bool {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			return err == nil && bits>>number&1 == 1
		}
	}
	return false
}

// hostResolvers are the machine's name servers. Those on loopback serve the
// machine only; systemd's stub keeps the real ones in a file of its own.
func hostResolvers() []netip.Addr {
	for _, path := range []string{"/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"} {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if found := parseResolvers(b); len(found) > 0 {
			return found
		}
	}
	return nil
}

func parseResolvers(conf []byte) []netip.Addr {
	var found []netip.Addr
	for s := bufio.NewScanner(bytes.NewReader(conf)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 2 || f[0] != "nameserver" {
			continue
		}
		// The node speaks IPv4 to the outside.
		if a, err := netip.ParseAddr(f[1]); err == nil && a.Is4() && !a.IsLoopback() {
			found = append(found, a)
		}
	}
	return found
}
