package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where things are inside the node's mount namespace. The paths are the same in
// every instance, which keeps the components' settings the same, and short,
// which the limit of 107 bytes on a socket's path asks for.
const (
	nodeName = "podproof"
	nodeDir  = "/run/podproof"     // the instance's data folder
	nodeBin  = "/run/podproof-bin" // the components
	// The node's own /var/lib and /var/log are folders of the data folder.
	nodeLib = "var/lib"
	nodeLog = "var/log"
)

// node is a set of namespaces and the process that holds them. That process
// ends when this one does, by whatever cause, and all others in the namespaces
// end with it.
type node struct {
	inst instance
	init *exec.Cmd
	gone chan struct{} // closed when init has ended
	// stopping says that its end is meant.
	stopping atomic.Bool
}

// startNode makes the namespaces: processes, mounts and network as described at
// nodeDir, with a link to the machine. On error nothing is left.
func startNode(ctx context.Context, inst instance, dir, bin string) (*node, error) {
	n := &node{inst: inst, gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends Pdeathsig when the thread that forked ends, so this
		// thread waits for the child and is never given back.
		runtime.LockOSThread()
		n.init = exec.Command(filepath.Join(bin, "pause")) // no context: it lives until stop, whatever started it
		n.init.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
			Pdeathsig:  unix.SIGKILL,
		}
		err := n.init.Start()
		started <- err
		if err == nil {
			_ = n.init.Wait() // it is always killed
			close(n.gone)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("make the node's namespaces: %w (does this machine, or the container that podproof runs in, allow them?)", err)
	}
	err := n.prepareMounts(ctx, dir, bin)
	if err == nil {
		err = n.prepareNetwork(ctx)
	}
	if err != nil {
		n.stop()
		return nil, err
	}
	return n, nil
}

// stop ends every process of the node and returns when the kernel has them gone.
func (n *node) stop() {
	n.stopping.Store(true)
	_ = n.init.Process.Kill() // fails only when it has ended already
	<-n.gone
}

func (n *node) ended() bool {
	select {
	case <-n.gone:
		return true
	default:
		return false
	}
}

// do runs f on a thread that is inside the namespaces; processes that f starts
// are inside too. Go's other threads are not affected.
func (n *node) do(f func() error) error {
	result := make(chan error)
	inside := func() {
		if err := n.enter(); err != nil {
			result <- fmt.Errorf("enter the node's namespaces: %w", err)
			return
		}
		result <- f()
	}
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with inside
		if unix.Gettid() != os.Getpid() {
			inside()
			return
		}
		// The process's first thread is different: it can't end, and what it has
		// entered the whole process would show and hold. While this goroutine
		// occupies it, another one gets another thread.
		defer runtime.UnlockOSThread()
		elsewhere := make(chan struct{})
		go func() {
			defer close(elsewhere)
			runtime.LockOSThread()
			inside()
		}()
		<-elsewhere
	}()
	return <-result
}

// closeFD: there is nothing to do about a descriptor that does not close.
func closeFD(fd int) { _ = unix.Close(fd) }

func (n *node) enter() error {
	// Linux wants a thread that changes its mount namespace to share no file
	// system attributes (current folder, umask) with others.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	var fds []int
	for _, ns := range []string{"pid", "net", "uts", "ipc", "mnt"} {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", n.init.Process.Pid, ns), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer closeFD(fd)
		fds = append(fds, fd)
	}
	for _, fd := range fds {
		if err := unix.Setns(fd, 0); err != nil {
			return err
		}
	}
	return nil
}

// prepareMounts gives the node its own /proc, /run, /var/lib and /var/log.
func (n *node) prepareMounts(ctx context.Context, dir, bin string) error {
	for _, d := range []string{nodeLib, nodeLog} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return fmt.Errorf("prepare the node's folders: %w", err)
		}
	}
	return n.do(func() error {
		// First away from the machine's mounts, then shared within the node:
		// Pods may ask for mount propagation.
		for _, flags := range []uintptr{unix.MS_PRIVATE | unix.MS_REC, unix.MS_SHARED | unix.MS_REC} {
			if err := unix.Mount("", "/", "", flags, ""); err != nil {
				return fmt.Errorf("separate the node's mounts: %w", err)
			}
		}
		// The folders may lie below those that get covered: hold on to them.
		sources := map[string]string{"": dir, "bin": bin, "lib": filepath.Join(dir, nodeLib), "log": filepath.Join(dir, nodeLog)}
		for name, path := range sources {
			fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("open %s: %w", path, err)
			}
			defer closeFD(fd)
			sources[name] = fmt.Sprintf("/proc/thread-self/fd/%d", fd)
		}
		if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
			return fmt.Errorf("mount the node's /run: %w", err)
		}
		for _, d := range []string{nodeDir, nodeBin, "/run/lock"} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return fmt.Errorf("prepare the node's /run: %w", err)
			}
		}
		for _, b := range []struct{ from, to string }{{"", nodeDir}, {"bin", nodeBin}, {"lib", "/var/lib"}, {"log", "/var/log"}} {
			if err := unix.Mount(sources[b.from], b.to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return fmt.Errorf("mount the node's %s: %w", b.to, err)
			}
		}
		// A program does it, since /proc shows the processes of whoever mounts it,
		// and a thread that has entered a process namespace only has its children there.
		if err := run(ctx, "mount", "-t", "proc", "-o", "nosuid,nodev,noexec", "proc", "/proc"); err != nil {
			return fmt.Errorf("mount the node's /proc: %w", err)
		}
		if err := unix.Sethostname([]byte(nodeName)); err != nil {
			return fmt.Errorf("name the node: %w", err)
		}
		return nil
	})
}

// prepareNetwork connects the node and the machine by a pair of devices.
func (n *node) prepareNetwork(ctx context.Context) error {
	host, node := netip.PrefixFrom(n.inst.hostAddress(), 30).String(), netip.PrefixFrom(n.inst.nodeAddress(), 30).String()
	link := n.inst.linkName()
	outside := [][]string{
		{"ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(n.init.Process.Pid)},
		{"ip", "addr", "add", host, "dev", link},
		{"ip", "link", "set", link, "up"},
	}
	for _, argv := range outside {
		if err := run(ctx, argv...); err != nil {
			return fmt.Errorf("connect the node: %w", err)
		}
	}
	inside := [][]string{
		{"ip", "link", "set", "lo", "up"},
		{"ip", "addr", "add", node, "dev", "eth0"},
		{"ip", "link", "set", "eth0", "up"},
		{"ip", "route", "add", "default", "via", n.inst.hostAddress().String()},
	}
	return n.do(func() error {
		for _, argv := range inside {
			if err := run(ctx, argv...); err != nil {
				return fmt.Errorf("connect the node: %w", err)
			}
		}
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
	})
}

// outwardRules let what the node and its Pods send leave the machine, which
// pulling images needs and nothing else. The comment makes them ours.
func (i instance) outwardRules() [][]string {
	comment := []string{"-m", "comment", "--comment", "podproof-" + i.ID}
	rule := func(table, chain string, match ...string) []string {
		return append([]string{"-t", table, chain}, append(match, comment...)...)
	}
	return [][]string{
		append(rule("nat", "POSTROUTING", "-s", i.Link.String(), "!", "-o", i.linkName()), "-j", "MASQUERADE"),
		append(rule("filter", "FORWARD", "-i", i.linkName()), "-j", "ACCEPT"),
		append(rule("filter", "FORWARD", "-o", i.linkName()), "-j", "ACCEPT"),
	}
}

// iptables runs one rule with the operation ("-C", "-I", "-D") in its place.
func iptables(ctx context.Context, op string, rule []string) error {
	argv := append([]string{"iptables", "-w", "5", rule[0], rule[1], op}, rule[2:]...)
	return run(ctx, argv...)
}

const forwardingFile = "/proc/sys/net/ipv4/ip_forward"

// openOutward adds the rules and turns forwarding on; it reports whether it was off.
func (i instance) openOutward(ctx context.Context) (switched bool, err error) {
	for _, r := range i.outwardRules() {
		if iptables(ctx, "-C", r) == nil {
			continue
		}
		if err := iptables(ctx, "-I", r); err != nil {
			return false, err
		}
	}
	b, err := os.ReadFile(forwardingFile)
	if err != nil || strings.TrimSpace(string(b)) != "0" {
		return false, err
	}
	return true, os.WriteFile(forwardingFile, []byte("1"), 0)
}

// closeOutward removes the rules, and turns forwarding off where this instance
// turned it on and no other instance is left that needs it.
func (i instance) closeOutward(ctx context.Context) error {
	var errs []error
	for _, r := range i.outwardRules() {
		for iptables(ctx, "-C", r) == nil {
			if err := iptables(ctx, "-D", r); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	if others, _ := filepath.Glob("/sys/class/net/podproof*"); i.Forwarding && len(others) == 0 {
		errs = append(errs, os.WriteFile(forwardingFile, []byte("0"), 0))
	}
	return errors.Join(errs...)
}

// run runs a command; its error holds what the command said.
func run(ctx context.Context, argv ...string) error {
	_, err := output(ctx, nil, argv...)
	return err
}

func output(ctx context.Context, stdin *os.File, argv ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}
