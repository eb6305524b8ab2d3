// Command archive writes a docker-format archive with one image of one layer
// out of files of a Linux root folder.
//
//	archive [-root DIR] [-entrypoint CMD] -tag REF [-tag REF...] OUT SOURCE=PATH...
//
// SOURCE is a path below DIR. A program brings the libraries of DIR that it is
// linked with. A SOURCE that begins with "->" makes a link to what follows; an
// empty one makes a folder.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("archive", flag.ContinueOnError)
	root := flags.String("root", "/", "root `folder` of the sources")
	entrypoint := flags.String("entrypoint", "", "`path` of the program that containers run")
	var tags []name.Tag
	flags.Func("tag", "image `name`; may be given several times", func(s string) error {
		tag, err := name.NewTag(s)
		tags = append(tags, tag)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(tags) == 0 || flags.NArg() < 2 {
		return fmt.Errorf("want -tag REF, OUT and SOURCE=PATH")
	}

	layer := layer{root: *root, files: map[string]string{}}
	for _, pair := range flags.Args()[1:] {
		source, target, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q: want SOURCE=PATH", pair)
		}
		if err := layer.add(source, target); err != nil {
			return err
		}
	}
	content, err := layer.tar()
	if err != nil {
		return err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	// The archive is read once, on this machine: packing it would cost more.
	packed, err := tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.NoCompression))
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, packed)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
	if *entrypoint != "" {
		config.Config.Entrypoint = []string{*entrypoint}
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	all := map[name.Tag]v1.Image{}
	for _, tag := range tags {
		all[tag] = image
	}
	return tarball.MultiWriteToFile(flags.Arg(0), all)
}

type layer struct {
	root string
	// files maps paths in the image to what stands there: a file below root,
	// "->" and a link's target, or "" for a folder.
	files map[string]string
}

var library = regexp.MustCompile(`(/\S+) \(0x`)

func (l layer) add(source, target string) error {
	if source == "" || strings.HasPrefix(source, "->") {
		l.files[target] = source
		return nil
	}
	file := filepath.Join(l.root, source)
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return filepath.WalkDir(file, func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(file, p)
			if err != nil {
				return err
			}
			return l.add(path.Join(source, rel), path.Join(target, rel))
		})
	}
	l.files[target] = source
	program, err := elf.Open(file)
	if err != nil {
		return nil // not a program
	}
	defer func() { _ = program.Close() }()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) == 0 {
		return err
	}
	out, err := exec.Command("chroot", l.root, "ldd", source).Output()
	if err != nil {
		return fmt.Errorf("ldd %s: %w", source, err)
	}
	for _, m := range library.FindAllStringSubmatch(string(out), -1) {
		l.files[m[1]] = m[1]
	}
	return nil
}

func (l layer) tar() ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	made := map[string]bool{".": true, "/": true}
	var folder func(string) error
	folder = func(dir string) error {
		if made[dir] {
			return nil
		}
		if err := folder(path.Dir(dir)); err != nil {
			return err
		}
		made[dir] = true
		mode := int64(0o755)
		if dir == "/tmp" {
			mode = 0o1777
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: mode})
	}
	paths := make([]string, 0, len(l.files))
	for p := range l.files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		source := l.files[p]
		if source == "" {
			if err := folder(p); err != nil {
				return nil, err
			}
			continue
		}
		if err := folder(path.Dir(p)); err != nil {
			return nil, err
		}
		if target, ok := strings.CutPrefix(source, "->"); ok {
			err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: p[1:], Linkname: target, Mode: 0o777})
			if err != nil {
				return nil, err
			}
			continue
		}
		content, err := os.ReadFile(filepath.Join(l.root, source))
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(filepath.Join(l.root, source))
		if err != nil {
			return nil, err
		}
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: p[1:], Size: int64(len(content)), Mode: int64(info.Mode().Perm())})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}
