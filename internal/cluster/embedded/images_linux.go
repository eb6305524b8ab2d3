package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/podproof/podproof/internal/cluster"
)

// loadedArchive tells one content of an archive from another without reading
// it: archives are hundreds of megabytes.
type loadedArchive struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Images   []string  `json:"images"`
}

// imageStore puts archives into containerd and remembers which it holds.
type imageStore struct {
	node        *node
	dir         string // the instance's data folder
	snapshotter string // where containerd unpacks
}

func (s imageStore) record() string { return filepath.Join(s.dir, "images.json") }

// load imports the archives that are not in the store already.
func (s imageStore) load(ctx context.Context, archives []string, progress cluster.Progress) error {
	loaded := map[string]loadedArchive{}
	if b, err := os.ReadFile(s.record()); err == nil {
		// A record that can't be read costs an import, and is replaced then.
		_ = json.Unmarshal(b, &loaded)
	}
	present, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, archive := range archives {
		st, err := os.Stat(archive)
		if err != nil {
			return fmt.Errorf("load images: %w: run `make images`", err)
		}
		was := loaded[archive]
		if was.Size == st.Size() && was.Modified.Equal(st.ModTime()) && len(was.Images) > 0 && containsAll(present, was.Images) {
			continue
		}
		step := "image-" + strings.TrimSuffix(filepath.Base(archive), filepath.Ext(archive))
		err = report(progress, step, "Loading the images of "+filepath.Base(archive), func() error {
			images, err := s.loadOne(ctx, archive)
			loaded[archive] = loadedArchive{Size: st.Size(), Modified: st.ModTime(), Images: images}
			return err
		})
		if err != nil {
			return err
		}
		b, err := json.MarshalIndent(loaded, "", "  ")
		if err == nil {
			err = writeFile(s.record(), b, 0o644)
		}
		if err != nil {
			return fmt.Errorf("remember the loaded images: %w", err)
		}
	}
	return nil
}

// loadOne imports one archive and returns the names of its images, as containerd
// has them.
func (s imageStore) loadOne(ctx context.Context, archive string) ([]string, error) {
	images, err := imagesOf(archive)
	if err != nil {
		return nil, fmt.Errorf("load the images of %s: %w", archive, err)
	}
	f, err := os.Open(archive)
	if err != nil {
		return nil, fmt.Errorf("load images: %w", err)
	}
	defer func() { _ = f.Close() }()
	// The archive comes by standard input: its path may not exist inside the node.
	_, err = s.ctr(ctx, f, "images", "import", "--local", "--discard-unpacked-layers", "--snapshotter", s.snapshotter, "-")
	if err != nil {
		return nil, fmt.Errorf("load the images of %s: %w", archive, err)
	}
	return images, nil
}

// imagesOf reads the full names that a docker-format archive gives its images.
func imagesOf(archive string) ([]string, error) {
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
	if err != nil {
		return nil, fmt.Errorf("it is no docker-format archive, as docker save writes it: %w", err)
	}
	var images []string
	for _, m := range manifest {
		for _, tag := range m.RepoTags {
			ref, err := reference.ParseDockerRef(tag)
			if err != nil {
				return nil, fmt.Errorf("it names an image %q: %w", tag, err)
			}
			images = append(images, ref.String())
		}
	}
	if len(images) == 0 {
		return nil, errors.New("it gives its images no names")
	}
	return images, nil
}

func (s imageStore) list(ctx context.Context) (map[string]bool, error) {
	out, err := s.ctr(ctx, nil, "images", "list", "--quiet")
	if err != nil {
		return nil, fmt.Errorf("list the images: %w", err)
	}
	present := map[string]bool{}
	for _, name := range strings.Fields(string(out)) {
		present[name] = true
	}
	return present, nil
}

// ctr calls containerd's own client in the namespace that Kubernetes' images live in.
func (s imageStore) ctr(ctx context.Context, stdin *os.File, args ...string) (out []byte, err error) {
	argv := append([]string{path.Join(nodeBin, "ctr"), "--address", "/run/containerd/containerd.sock", "--namespace", "k8s.io"}, args...)
	err = s.node.do(func() error {
		out, err = output(ctx, stdin, argv...)
		return err
	})
	return out, err
}

func containsAll(have map[string]bool, want []string) bool {
	for _, w := range want {
		if !have[w] {
			return false
		}
	}
	return true
}

// archivesIn lists the archives of a folder, pause.tar first: no Pod starts without.
func archivesIn(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil {
		return nil, fmt.Errorf("list the images: %w", err)
	}
	pause := filepath.Join(dir, "pause.tar")
	sort.SliceStable(found, func(i, j int) bool { return found[i] == pause && found[j] != pause })
	if len(found) == 0 || found[0] != pause {
		return nil, fmt.Errorf("no pause.tar in %s: run `make images`", dir)
	}
	return found, nil
}
