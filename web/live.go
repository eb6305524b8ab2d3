package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/podproof/podproof/internal/study"
	"github.com/podproof/podproof/web/view"
)

// Pace of a live page's stream.
const (
	// beatEvery shows the page that the stream still runs.
	beatEvery = 10 * time.Second
	// writeLimit is how long a page may take to receive an event.
	writeLimit = 10 * time.Second
)

// live sends a task's page what changes: an event "rows" with the rows whose
// verdict changed, "state" with how well the cluster is seen, and "beat" now
// and then. It begins with everything, so a page that comes back has missed
// nothing. It ends with the page or the server.
func (h *Handler) live(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	marks, stop, err := h.study.Follow(ctx, study.Local, refOf(r))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	defer stop()
	s := &stream{w: w, control: http.NewResponseController(w)}
	// The server's limits are for pages; a read limit would end the context.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		h.log.WarnContext(ctx, "read deadline not lifted", "err", err)
	}
	head := w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("Cache-Control", "no-store, no-transform")
	head.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	sent := map[string]string{}
	for {
		if err := h.sendChanges(ctx, s, r, sent); err != nil {
			// A failure of ours is worth a line; the page comes back by itself.
			if !s.gone && ctx.Err() == nil {
				h.explain(r, err)
			}
			return
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-marks:
				if !ok {
					return
				}
				waiting = false
			case <-beat.C:
				if s.send("beat", "") != nil {
					return
				}
			}
		}
	}
}

// sendChanges sends what differs from what was sent, by the rows' IDs. The
// state comes last: who reads it has the rows.
func (h *Handler) sendChanges(ctx context.Context, s *stream, r *http.Request, sent map[string]string) error {
	v, err := h.study.Open(ctx, study.Local, refOf(r))
	if err != nil {
		return err
	}
	p, checks := h.page(r), h.checksView(languageOf(r), v, h.now())
	var changed bytes.Buffer
	// Out of sight, rows stay as they were last seen.
	if v.Live.State == study.LiveOn {
		for _, row := range checks.Rows {
			var b strings.Builder
			if err := view.CheckRow(p, row).Render(ctx, &b); err != nil {
				return fmt.Errorf("render a row: %w", err)
			}
			if html := b.String(); sent[row.ID] != html {
				sent[row.ID] = html
				changed.WriteString(html)
			}
		}
	}
	if changed.Len() > 0 {
		if err := s.send("rows", changed.String()); err != nil {
			return err
		}
	}
	if state := string(v.Live.State); sent[""] != state {
		sent[""] = state // no row has an empty ID
		return s.send("state", state)
	}
	return nil
}

// stream writes events to a page.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	gone    bool // the page does not receive any more
}

func (s *stream) send(event, data string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\n", event)
	for line := range strings.Lines(data) {
		fmt.Fprintf(&b, "data: %s\n", strings.TrimRight(line, "\r\n"))
	}
	if data == "" {
		b.WriteString("data:\n")
	}
	b.WriteString("\n")
	err := s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if err == nil {
		_, err = s.w.Write(b.Bytes())
	}
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.gone = true
		return fmt.Errorf("send to the page: %w", err)
	}
	return nil
}
