//go:build !unix

package kind

import "os/exec"

// Elsewhere processes do not take turns; kind itself still refuses to make a
// cluster whose nodes exist.

func (l *lock) try() (bool, error) { return true, nil }

func (l *lock) share(*exec.Cmd) {}

func keepLock() {}
