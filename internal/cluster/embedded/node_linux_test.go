//go:build embedded

package embedded

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread that has entered the node and lives on would keep the node's mounts
// alive; the process's first thread would show them as the process's own.
func TestNoThreadStaysInsideTheNode(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := &node{init: cmd, gone: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(n.gone) }()
	t.Cleanup(n.stop)

	machine, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	// Many at once, so that the first thread gets its turn.
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			err := n.do(func() error {
				if ns, err := os.Readlink("/proc/thread-self/ns/mnt"); err != nil || ns == machine {
					t.Errorf("not inside: %s, %v", ns, err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	runtime.Gosched()
	for range 100 {
		if ns, err := os.Readlink("/proc/self/ns/mnt"); err != nil || ns != machine {
			t.Fatalf("the process's first thread is in %s (%v), the machine is %s", ns, err, machine)
		}
	}
}
