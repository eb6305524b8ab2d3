package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupHierarchies are the folders in which a control group of one name has to
// exist: one on a machine with version 2, one per controller with version 1.
func cgroupHierarchies(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return []string{root}, nil
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("list the control groups: %w", err)
	}
	var found []string
	for _, e := range entries {
		// cpu and the like are links to cpu,cpuacct where both are mounted as one.
		if _, err := os.Stat(filepath.Join(root, e.Name(), "cgroup.procs")); e.IsDir() && err == nil {
			found = append(found, filepath.Join(root, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("find the control groups: nothing is mounted below %s", root)
	}
	return found, nil
}

// makeCgroup makes the group that holds all of a node's Pods.
func makeCgroup(root, name string) error {
	hierarchies, err := cgroupHierarchies(root)
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		if controllers, err := os.ReadFile(filepath.Join(h, "cgroup.controllers")); err == nil {
			if err := delegate(h, strings.Fields(string(controllers))); err != nil {
				return err
			}
		}
		dir := filepath.Join(h, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the control group %s: %w", dir, err)
		}
		// A new group of version 1 starts without CPUs and memory nodes, and
		// nothing can run in it.
		for _, f := range []string{"cpuset.cpus", "cpuset.mems"} {
			have, err := os.ReadFile(filepath.Join(dir, f))
			if err != nil || strings.TrimSpace(string(have)) != "" || len(hierarchies) == 1 {
				continue
			}
			parent, err := os.ReadFile(filepath.Join(h, f))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, f), parent, 0)
			}
			if err != nil {
				return fmt.Errorf("give the control group its %s: %w", f, err)
			}
		}
	}
	return nil
}

// delegate lets groups below dir use the controllers that Pods need (version 2).
func delegate(dir string, available []string) error {
	for _, c := range available {
		switch c {
		case "cpu", "cpuset", "memory", "pids", "io", "hugetlb":
		default:
			continue
		}
		err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0)
		if errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("pass the controller %s on to Pods: %s holds processes itself, as in a container with control groups of its own: run podproof on the machine, or use --cluster=kind", c, dir)
		}
		if err != nil {
			return fmt.Errorf("pass the controller %s on to Pods: %w", c, err)
		}
	}
	return nil
}

// removeCgroup removes the group and those below it. The kernel needs a moment
// after the last process in a group has ended.
func removeCgroup(ctx context.Context, root, name string) error {
	hierarchies, err := cgroupHierarchies(root)
	if err != nil {
		return err
	}
	for {
		var failed error
		for _, h := range hierarchies {
			failed = errors.Join(failed, removeTree(filepath.Join(h, name)))
		}
		if failed == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove the control group: %w", failed)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// removeTree removes the folders of a control group, deepest first; the files
// in them are the kernel's.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeTree(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}
