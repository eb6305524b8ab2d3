package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory measures podproof, which runs below the process of make, and the
// cluster, which runs below podproof where it is embedded.
func memory(figures map[string]float64, embedded bool, makePID int) error {
	children, err := processTree()
	if err != nil {
		return err
	}
	podproof := 0
	var find func(pid int)
	find = func(pid int) {
		if name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && podproof == 0 && filepath.Base(name) == "podproof" {
			podproof = pid
		}
		for _, c := range children[pid] {
			find(c)
		}
	}
	find(makePID)
	if podproof == 0 {
		return errors.New("memory: podproof is not below make")
	}
	anon, err := field(podproof, "status", "RssAnon:")
	if err != nil {
		return err
	}
	rss, err := field(podproof, "status", "VmRSS:")
	if err != nil {
		return err
	}
	figures["memory.podproof"], figures["memory.podproof.rss"] = anon/1024, rss/1024
	if !embedded {
		return nil
	}
	var sum float64
	var add func(pid int)
	add = func(pid int) {
		// A process that has just ended has no memory.
		if pss, err := field(pid, "smaps_rollup", "Pss:"); err == nil {
			sum += pss
		}
		for _, c := range children[pid] {
			add(c)
		}
	}
	for _, c := range children[podproof] {
		add(c)
	}
	figures["memory.cluster"] = sum / (1 << 20)
	return nil
}

// processTree maps each process to its children.
func processTree() (map[int][]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid ...": the name may hold anything.
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, err2 := strconv.Atoi(fields[1])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		children[parent] = append(children[parent], pid)
	}
	return children, nil
}

// field reads a value in KiB of a file in /proc/PID.
func field(pid int, file, name string) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return strconv.ParseFloat(f[1], 64)
		}
	}
	return 0, fmt.Errorf("no %s in %s of process %d", name, file, pid)
}
