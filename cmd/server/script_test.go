package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/internal/sqlite"
	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/labs"
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"attempt": attempt,
		},
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

// attempt stores one: attempt DATABASE LAB TASK CHECK VERDICT [SNAPSHOT]. With
// no snapshot it has no evidence.
func attempt(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { ts.Check(store.Close()) }()
	ref := labs.Ref{Lab: args[1], Task: args[2]}
	_, err = store.Ensure(ctx, study.Local, ref, 1)
	ts.Check(err)
	var packed []byte
	if len(args) > 5 {
		e := &grader.Evidence{Snapshot: new(grader.Snapshot)}
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[5])), e.Snapshot))
		packed, err = study.Pack(e)
		ts.Check(err)
	}
	_, err = store.SaveAttempt(ctx, study.Local, study.Attempt{
		Ref: ref, Seed: 1, Started: time.Now(), Finished: time.Now(), Verdict: grader.Verdict(args[4]), Total: 1,
		Report: &grader.Report{Task: ref.String(), Namespace: ref.Lab, Results: []grader.Result{
			{Check: args[3], Verdict: grader.Verdict(args[4]), Points: 1},
		}},
	}, packed)
	ts.Check(err)
}
