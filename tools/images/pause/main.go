//go:build linux

// Command pause is the first process of a Pod's sandbox, and of an embedded
// node: it holds the namespaces, collects processes that lost their parent, and
// ends when it is told to.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Neighbours that share the process namespace send these to process 1 by
	// mistake; they must not end the Pod.
	signal.Ignore(syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		// One signal may stand for several children.
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if pid <= 0 || (err != nil && err != syscall.EINTR) {
				break
			}
		}
	}
}
