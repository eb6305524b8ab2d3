package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/podproof/podproof/internal/cluster"
)

// logProgress tells of a cluster's start in the log.
func logProgress(ctx context.Context, log *slog.Logger) cluster.Progress {
	return func(e cluster.Event) {
		switch {
		case e.Err != nil:
			log.ErrorContext(ctx, "cluster step failed", "step", e.Step, "text", e.Text, "error", e.Err)
		case e.Done:
			log.DebugContext(ctx, "cluster step done", "step", e.Step)
		default:
			log.InfoContext(ctx, "cluster", "step", e.Step, "text", e.Text)
		}
	}
}

// printProgress tells people at a shell what is being done, one line for each
// step, with the time it took.
func printProgress(w io.Writer) cluster.Progress {
	var mu sync.Mutex
	started := map[string]time.Time{}
	return func(e cluster.Event) {
		mu.Lock()
		defer mu.Unlock()
		at, known := started[e.Step]
		switch {
		case e.Err != nil:
			_, _ = fmt.Fprintf(w, "  failed: %s: %v\n", e.Text, e.Err)
		case e.Done && known:
			_, _ = fmt.Fprintf(w, "  done: %s (%.1f s)\n", e.Text, time.Since(at).Seconds())
		case e.Done:
			_, _ = fmt.Fprintf(w, "  done: %s\n", e.Text)
		case !known:
			started[e.Step] = time.Now()
			_, _ = fmt.Fprintf(w, "  %s...\n", e.Text)
		}
	}
}
