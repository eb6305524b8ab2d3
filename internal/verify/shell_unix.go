//go:build unix

package verify

import (
	"os/exec"
	"syscall"
)

// endWithChildren makes the end of a command's context end what it started
// too: a script that is cut off must not leave a kubectl behind.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
