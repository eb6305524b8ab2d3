package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestWhatClientGoLogsIsForDebugging(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		var b bytes.Buffer
		log := slog.New(atDebug{slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level})}).With("source", "client-go")
		log.Error("failed to list")
		log.WithGroup("g").Info("again", "in", 1)
		switch got := b.String(); {
		case level == slog.LevelInfo && got != "":
			t.Errorf("at %s it says %q", level, got)
		case level == slog.LevelDebug && (strings.Count(got, "level=DEBUG") != 2 || strings.Count(got, "source=client-go") != 2):
			t.Errorf("at %s it says %q", level, got)
		}
	}
}
