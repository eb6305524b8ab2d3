package embedded

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/bits"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// instance is what distinguishes one cluster from another on the same machine.
// It is chosen once and kept in instance.json.
type instance struct {
	// ID names the instance's link, control group and iptables rules.
	ID string `json:"id"`
	// Link is the /30 between the machine (first address) and the node (second).
	Link netip.Prefix `json:"link"`
	// Pods and Services are used inside the node's namespaces only.
	Pods     netip.Prefix `json:"pods"`
	Services netip.Prefix `json:"services"`
	// Init is the first process of the node's namespaces, while there is one.
	Init *processID `json:"init,omitempty"`
	// Forwarding says that this instance switched the machine's IPv4 forwarding on.
	Forwarding bool `json:"forwarding,omitempty"`
}

func (i instance) hostAddress() netip.Addr { return i.Link.Addr().Next() }
func (i instance) nodeAddress() netip.Addr { return i.hostAddress().Next() }
func (i instance) linkName() string        { return "podproof" + i.ID[:6] }
func (i instance) cgroup() string          { return "podproof-" + i.ID }
func (i instance) server() string          { return fmt.Sprintf("https://%s:6443", i.nodeAddress()) }

// apiAddress is the address of the Service "kubernetes": the range's first.
func (i instance) apiAddress() netip.Addr { return i.Services.Addr().Next() }

// dnsAddress is the customary one for cluster DNS: the range's tenth.
func (i instance) dnsAddress() netip.Addr {
	a := i.Services.Addr()
	for range 10 {
		a = a.Next()
	}
	return a
}

// loadInstance reads dir's instance, or chooses one that does not touch taken.
// A remembered one whose link has been taken meanwhile is chosen anew.
func loadInstance(dir string, taken []netip.Prefix) (instance, error) {
	inst, err := readInstance(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		id := make([]byte, 4)
		if _, err := rand.Read(id); err != nil {
			return inst, fmt.Errorf("name the instance: %w", err)
		}
		inst = instance{ID: hex.EncodeToString(id)}
	case err != nil:
		return inst, err
	}
	if !inst.Link.IsValid() || touches(inst.Link, taken) {
		if inst.Link, err = chooseLink(dir, taken); err != nil {
			return inst, err
		}
	}
	if !inst.Pods.IsValid() {
		if inst.Pods, err = chooseRange("Pods", podRanges(), taken); err != nil {
			return inst, err
		}
		if inst.Services, err = chooseRange("Services", serviceRanges(), taken); err != nil {
			return inst, err
		}
	}
	return inst, inst.save(dir)
}

func readInstance(dir string) (instance, error) {
	var inst instance
	path := filepath.Join(dir, "instance.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return inst, fmt.Errorf("read the instance: %w", err)
	}
	if err := json.Unmarshal(b, &inst); err != nil {
		return inst, fmt.Errorf("read the instance: %s: %w", path, err)
	}
	if len(inst.ID) != 8 {
		return inst, fmt.Errorf("read the instance: %s: the id %q is not ours", path, inst.ID)
	}
	return inst, nil
}

func (i instance) save(dir string) error {
	b, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return fmt.Errorf("save the instance: %w", err)
	}
	return writeFile(filepath.Join(dir, "instance.json"), append(b, '\n'), 0o644)
}

// chooseLink picks a /30 by the folder's name, so that instances rarely compete,
// and goes on from there to the first that is free.
func chooseLink(dir string, taken []netip.Prefix) (netip.Prefix, error) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, dir)
	for _, base := range []string{"10.213.0.0", "172.27.0.0", "198.18.0.0"} {
		const slots = 1 << 14
		first := binary.BigEndian.Uint32(netip.MustParseAddr(base).AsSlice())
		for n := range uint32(slots) {
			slot := (h.Sum32() + n) % slots
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], first+4*slot)
			if p := netip.PrefixFrom(netip.AddrFrom4(b), 30); !touches(p, taken) {
				return p, nil
			}
		}
	}
	return netip.Prefix{}, errors.New("choose the node's address: 10.213.0.0/16, 172.27.0.0/16 and 198.18.0.0/16 are all in use on this machine")
}

// The customary ranges come first, as learners know them from elsewhere.
func podRanges() []string     { return []string{"10.244.0.0/16", "10.52.0.0/16", "172.29.0.0/16"} }
func serviceRanges() []string { return []string{"10.96.0.0/16", "10.53.0.0/16", "172.30.0.0/16"} }

// chooseRange avoids the machine's networks although the range is used inside
// the node only: what the machine reaches there, Pods could not.
func chooseRange(what string, candidates []string, taken []netip.Prefix) (netip.Prefix, error) {
	for _, c := range candidates {
		if p := netip.MustParsePrefix(c); !touches(p, taken) {
			return p, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("choose the range of %s: %s are all in use on this machine", what, strings.Join(candidates, ", "))
}

func touches(p netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if p.Overlaps(t) {
			return true
		}
	}
	return false
}

// takenNetworks are the machine's IPv4 networks: those of its links and routes.
func takenNetworks() ([]netip.Prefix, error) {
	var taken []netip.Prefix
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list the machine's addresses: %w", err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
			taken = append(taken, p.Masked())
		}
	}
	f, err := os.Open("/proc/net/route")
	if err != nil {
		return nil, fmt.Errorf("list the machine's routes: %w", err)
	}
	defer func() { _ = f.Close() }()
	routes, err := parseRoutes(f)
	return append(taken, routes...), err
}

// parseRoutes reads /proc/net/route, whose addresses are hexadecimal numbers in
// the machine's byte order, and leaves the default route out.
func parseRoutes(r io.Reader) ([]netip.Prefix, error) {
	var routes []netip.Prefix
	for s := bufio.NewScanner(r); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 8 || f[0] == "Iface" {
			continue
		}
		dst, err1 := hex.DecodeString(f[1])
		mask, err2 := hex.DecodeString(f[7])
		if err := errors.Join(err1, err2); err != nil || len(dst) != 4 || len(mask) != 4 {
			return nil, fmt.Errorf("list the machine's routes: cannot read %q", s.Text())
		}
		ones := bits.OnesCount32(binary.BigEndian.Uint32(mask))
		if ones == 0 {
			continue
		}
		var b [4]byte
		binary.NativeEndian.PutUint32(b[:], binary.BigEndian.Uint32(dst))
		routes = append(routes, netip.PrefixFrom(netip.AddrFrom4(b), ones).Masked())
	}
	return routes, nil
}

// writeFile replaces a file as a whole, so that a crash leaves the old or the new.
func writeFile(path string, b []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, mode); err != nil {
		return err
	}
	if err := os.Chmod(tmp, mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
