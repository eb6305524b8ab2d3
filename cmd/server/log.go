package main

import (
	"context"
	"log/slog"
)

// atDebug hands every record on at level debug. client-go reports what it
// then tries again as errors and warnings; what fails for good reaches
// podproof as an error and is logged at its edge.
type atDebug struct{ slog.Handler }

func (h atDebug) Enabled(ctx context.Context, _ slog.Level) bool {
	return h.Handler.Enabled(ctx, slog.LevelDebug)
}

func (h atDebug) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}

func (h atDebug) WithAttrs(a []slog.Attr) slog.Handler { return atDebug{h.Handler.WithAttrs(a)} }
func (h atDebug) WithGroup(name string) slog.Handler   { return atDebug{h.Handler.WithGroup(name)} }
