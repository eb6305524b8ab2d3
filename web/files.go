package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/podproof/podproof/web/view"
)

// errNotBuilt is returned for a checkout whose browser files were not built.
var errNotBuilt = errors.New("web/assets/dist holds no build: run `npm ci && npm run build` in web/assets, or make, which does it")

// files are the built files, in memory. Their names hold their content's hash,
// so a browser may keep them for ever.
type files struct {
	byName map[string]file
	paths  view.Assets
}

type file struct {
	mime       string
	plain      []byte
	gzip, brot []byte
}

func loadFiles(dist fs.FS) (*files, error) {
	raw, err := fs.ReadFile(dist, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotBuilt
	} else if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	var names map[string]string
	if err := json.Unmarshal(raw, &names); err != nil {
		return nil, fmt.Errorf("decode manifest.json: %w", err)
	}
	out := &files{byName: make(map[string]file, len(names))}
	for _, want := range []struct {
		plain, mime string
		path        *string
	}{
		{"app.css", "text/css; charset=utf-8", &out.paths.Style},
		{"app.js", "text/javascript; charset=utf-8", &out.paths.Script},
		{"icon.svg", "image/svg+xml", &out.paths.Icon},
	} {
		hashed, ok := names[want.plain]
		if !ok {
			return nil, fmt.Errorf("manifest.json lacks %s: %w", want.plain, errNotBuilt)
		}
		f := file{mime: want.mime}
		for suffix, data := range map[string]*[]byte{"": &f.plain, ".gz": &f.gzip, ".br": &f.brot} {
			if *data, err = fs.ReadFile(dist, hashed+suffix); err != nil {
				return nil, fmt.Errorf("read %s: %w", hashed+suffix, err)
			}
		}
		out.byName[hashed] = f
		*want.path = "/assets/" + hashed
	}
	return out, nil
}

// serve sends a file in the best encoding that the browser takes.
func (fs *files) serve(w http.ResponseWriter, r *http.Request) {
	f, ok := fs.byName[chi.URLParam(r, "file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	head := w.Header()
	head.Set("Content-Type", f.mime)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Vary", "Accept-Encoding")
	data := f.plain
	switch accept := r.Header.Get("Accept-Encoding"); {
	case accepts(accept, "br"):
		data = f.brot
		head.Set("Content-Encoding", "br")
	case accepts(accept, "gzip"):
		data = f.gzip
		head.Set("Content-Encoding", "gzip")
	}
	head.Set("Content-Length", strconv.Itoa(len(data)))
	// A failed write means that the browser has gone.
	_, _ = bytes.NewReader(data).WriteTo(w)
}

// accepts reports whether an Accept-Encoding header names the encoding and
// does not forbid it by q=0.
func accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		q, found := strings.CutPrefix(strings.TrimSpace(params), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !found || err != nil || weight > 0
	}
	return false
}
