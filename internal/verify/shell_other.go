//go:build !unix

package verify

import "os/exec"

// endWithChildren leaves the end of a command to its context alone.
func endWithChildren(*exec.Cmd) {}
