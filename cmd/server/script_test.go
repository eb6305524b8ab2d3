package main

import (
	"net"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"podproof": func() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) },
		"kubectl":  func() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) },
	})
}

func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = l.Close() })
			e.Setenv("TAKEN", l.Addr().String())
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
	})
}
