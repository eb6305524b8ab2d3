//go:build unix

package kind

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func (l *lock) try() (bool, error) {
	err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// share lets the helper hold the lock too: if this process is killed, the
// next one waits until the helper has cleaned up.
func (l *lock) share(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{l.file} }

// keepLock is called in the helper, lest kind's programs inherit the lock.
func keepLock() { syscall.CloseOnExec(firstExtraFile) }

// firstExtraFile is the descriptor of the first of exec.Cmd's ExtraFiles.
const firstExtraFile = 3
