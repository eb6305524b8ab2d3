//go:build unix

package kind

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ownGroup makes cmd the leader of a process group, so that the signals of a
// terminal do not reach it and it can be killed with all its children.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// helperSignals catches what would end the helper before it has cleaned up.
// Caught, not ignored: ignored signals would be inherited by kind's programs.
// SIGPIPE among them, for the process that listens may be dead.
func helperSignals() (stop <-chan os.Signal, release func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	return asked, func() { signal.Stop(asked); signal.Stop(pipe) }
}

// endGroup asks all processes of the helper's group to end; the helper itself
// catches the signal.
func endGroup() { _ = syscall.Kill(0, syscall.SIGTERM) }

// killSelf ends the helper together with programs that would not end.
func killSelf() { _ = syscall.Kill(0, syscall.SIGKILL) }
