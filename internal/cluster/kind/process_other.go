//go:build !unix

package kind

import (
	"os"
	"os/exec"
	"os/signal"
)

// Without process groups only the helper itself is stopped. A program of
// kind's that is under way ends by itself, and the clean-up looks until
// nothing more appears.

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func helperSignals() (stop <-chan os.Signal, release func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	return asked, func() { signal.Stop(asked) }
}

func endGroup() {}

func killSelf() {}
