package kind

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	podproof "github.com/podproof/podproof/internal/cluster"
)

// LoadImages puts the archives' images into every node that lacks them. The
// cluster must be running.
func (p *Provider) LoadImages(ctx context.Context, archives []string, progress podproof.Progress) error {
	cli, err := p.runtime(ctx)
	if err != nil {
		return err
	}
	unlock, err := p.lock(ctx, progress)
	if err != nil {
		return err
	}
	defer closeQuietly(unlock)
	found, err := p.find(ctx, cli)
	switch {
	case err != nil:
		return err
	case found.absent():
		return fmt.Errorf("load images: there is no kind cluster %q", p.opts.Name)
	case found.foreign():
		return p.foreignError(cli)
	}
	return p.loadImages(ctx, cli, archives, progress)
}

func (p *Provider) loadImages(ctx context.Context, cli *cli, archives []string, progress podproof.Progress) error {
	if len(archives) == 0 {
		emit(progress, podproof.Event{Step: "images", Text: "No image archives given: the nodes pull images from their registries", Done: true})
		return nil
	}
	var members []nodes.Node
	err := await(ctx, func() (err error) {
		members, err = cli.kind(p.logger(nil)).ListInternalNodes(p.opts.Name)
		return err
	})
	if err != nil {
		return fmt.Errorf("load images: list nodes: %w", explain(err))
	}
	var all images
	for _, path := range archives {
		images, err := imagesIn(path)
		if err != nil {
			return err
		}
		all = append(all, images...)
		for _, n := range members {
			has, err := hasAll(ctx, n, images)
			if err != nil {
				return err
			}
			if has {
				continue
			}
			text := fmt.Sprintf("Loading %s", images)
			emit(progress, podproof.Event{Step: "images", Text: text})
			if err := loadInto(ctx, n, path); err != nil {
				emit(progress, podproof.Event{Step: "images", Text: text, Done: true, Err: err})
				return err
			}
		}
	}
	emit(progress, podproof.Event{Step: "images", Text: fmt.Sprintf("The nodes have %s", all), Done: true})
	return nil
}

// image is one name in an archive and the digest of its configuration, which
// is what the container runtime calls its ID.
type image struct{ name, id string }

type images []image

func (s images) String() string {
	names := make([]string, len(s))
	for i, img := range s {
		names[i] = img.name
	}
	return strings.Join(names, ", ")
}

// imagesIn reads which images a docker-format archive holds.
func imagesIn(path string) (images, error) {
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	manifest, err := tarball.LoadManifest(open)
	if err != nil {
		return nil, fmt.Errorf("image archive %s: %w", path, err)
	}
	var all images
	for _, descriptor := range manifest {
		for _, ref := range descriptor.RepoTags {
			tag, err := name.NewTag(ref)
			if err != nil {
				return nil, fmt.Errorf("image archive %s: %w", path, err)
			}
			img, err := tarball.Image(open, &tag)
			if err != nil {
				return nil, fmt.Errorf("image archive %s: %s: %w", path, ref, err)
			}
			id, err := img.ConfigName()
			if err != nil {
				return nil, fmt.Errorf("image archive %s: %s: %w", path, ref, err)
			}
			all = append(all, image{name: ref, id: id.String()})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("image archive %s: its images have no names", path)
	}
	return all, nil
}

// hasAll tells whether the node has exactly these images by these names.
func hasAll(ctx context.Context, n nodes.Node, want images) (bool, error) {
	for _, img := range want {
		id, err := imageID(ctx, n, img.name)
		if err != nil || id != img.id {
			return false, err
		}
	}
	return true, nil
}

func loadInto(ctx context.Context, n nodes.Node, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("image archive: %w", err)
	}
	defer closeQuietly(f)
	// The import ends with its input, so the reader carries the context in.
	err = await(ctx, func() error { return nodeutils.LoadImageArchive(n, contextReader{ctx, f}) })
	if err != nil {
		return fmt.Errorf("load %s into node %s: %w", filepath.Base(path), n, explain(err))
	}
	return nil
}

// imageID asks the node for an image's ID, "" if it has none of that name.
func imageID(ctx context.Context, n nodes.Node, ref string) (string, error) {
	var out, errout bytes.Buffer
	err := n.CommandContext(ctx, "crictl", "inspecti", "--output", "json", ref).SetStdout(&out).SetStderr(&errout).Run()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case strings.Contains(errout.String(), "no such image"):
		return "", nil
	default:
		return "", fmt.Errorf("look for image %s on node %s: %w", ref, n, explain(err))
	}
	var answer struct {
		Status struct {
			ID string `json:"id"`
		} `json:"status"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return "", fmt.Errorf("look for image %s on node %s: %w", ref, n, err)
	}
	return answer.Status.ID, nil
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(b)
}
