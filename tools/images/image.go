package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// image is one in the making: a file tree and its settings.
type image struct {
	ref    string
	config v1.Config
	files  map[string]*file // by path without the leading slash
	// merged says that /bin, /sbin and /lib* are links into /usr.
	merged bool
}

type file struct {
	header tar.Header
	body   []byte
}

func newImage(ref string) *image {
	return &image{
		ref: ref, files: map[string]*file{},
		config: v1.Config{Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, Labels: map[string]string{}},
	}
}

// merge turns the top-level program folders into links, as Debian has them.
func (i *image) merge() {
	i.merged = true
	for _, d := range []string{"bin", "sbin", "lib", "lib64"} {
		i.dir("usr/"+d, 0o755)
		i.files[d] = &file{header: tar.Header{Typeflag: tar.TypeSymlink, Linkname: "usr/" + d, Mode: 0o777}}
	}
}

// place is where a path really lies.
func (i *image) place(p string) string {
	if first, _, _ := strings.Cut(p, "/"); i.merged && first != p {
		switch first {
		case "bin", "sbin", "lib", "lib64":
			return "usr/" + p
		}
	}
	return p
}

// addEntry takes over one entry of a package's archive.
func (i *image) addEntry(p string, h *tar.Header, body io.Reader) error {
	if p == "" {
		return nil
	}
	p = i.place(p)
	if old, ok := i.files[p]; ok && h.Typeflag == tar.TypeDir && old.header.Typeflag != tar.TypeReg {
		return nil // a folder stays what it is, also where it is a link to one
	}
	f := &file{header: tar.Header{Typeflag: h.Typeflag, Linkname: h.Linkname, Mode: h.Mode & 0o7777, Uid: h.Uid, Gid: h.Gid}}
	switch h.Typeflag {
	case tar.TypeReg:
		b, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		f.body = b
	case tar.TypeLink:
		f.header.Linkname = i.place(clean(h.Linkname))
	}
	i.files[p] = f
	return nil
}

// check finds programs and libraries that want a library which is not there.
func (i *image) check() error {
	have := map[string]bool{}
	for p := range i.files {
		have[path.Base(p)] = true
	}
	var problems []error
	for p, f := range i.files {
		e, err := elf.NewFile(bytes.NewReader(f.body))
		if err != nil {
			continue // not a program
		}
		wanted, _ := e.ImportedLibraries() // a static one has none
		for _, library := range wanted {
			if !have[library] {
				problems = append(problems, fmt.Errorf("%s wants %s", p, library))
			}
		}
	}
	return errors.Join(problems...)
}

func (i *image) dir(p string, mode fs.FileMode) {
	i.files[i.place(p)] = &file{header: tar.Header{Typeflag: tar.TypeDir, Mode: int64(mode)}}
}

func (i *image) file(p string, mode fs.FileMode, body []byte) {
	i.files[i.place(p)] = &file{header: tar.Header{Typeflag: tar.TypeReg, Mode: int64(mode)}, body: body}
}

func (i *image) link(p, target string) {
	i.files[i.place(p)] = &file{header: tar.Header{Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777}}
}

// layer writes the tree as an archive whose bytes depend on the tree only.
func (i *image) layer() ([]byte, error) {
	for p := range i.files {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			if _, ok := i.files[d]; !ok {
				i.dir(d, 0o755)
			}
		}
	}
	paths := make([]string, 0, len(i.files))
	for p := range i.files {
		paths = append(paths, p)
	}
	sort.Slice(paths, func(a, b int) bool {
		// Hard links come after what they name.
		la, lb := i.files[paths[a]].header.Typeflag == tar.TypeLink, i.files[paths[b]].header.Typeflag == tar.TypeLink
		if la != lb {
			return lb
		}
		return paths[a] < paths[b]
	})
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, p := range paths {
		f := i.files[p]
		h := f.header
		h.Name, h.Size, h.ModTime, h.Format = p, int64(len(f.body)), time.Unix(0, 0), tar.FormatPAX
		if h.Typeflag == tar.TypeDir {
			h.Name += "/"
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, fmt.Errorf("write %s: %w", p, err)
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, fmt.Errorf("write %s: %w", p, err)
		}
	}
	return out.Bytes(), w.Close()
}

// write builds the image and writes it as a docker-format archive.
func (i *image) write(dest string) error {
	b, err := i.layer()
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	conf, err := img.ConfigFile()
	if err != nil {
		return err
	}
	conf = conf.DeepCopy()
	conf.OS, conf.Architecture, conf.Config = "linux", runtime.GOARCH, i.config
	if img, err = mutate.ConfigFile(img, conf); err != nil {
		return err
	}
	tag, err := name.NewTag(i.ref)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(dest+".new", tag, img); err != nil {
		return err
	}
	return os.Rename(dest+".new", dest)
}

func clean(p string) string { return strings.TrimPrefix(path.Clean("/"+p), "/") }
