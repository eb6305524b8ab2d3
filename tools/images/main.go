// Command images builds the container images that the labs and an embedded
// cluster need from Debian packages, so that no registry is involved:
//
//	images -out FOLDER -pause BINARY
//
// It writes FOLDER/{pause,busybox,nginx}.tar, docker-format archives under the
// names that labs use. What runs inside is Debian's build of the program, in
// the version that Debian has (it is in each image's labels); the surroundings
// (entry point, paths, users, default page) behave as the official image's do.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	out := flag.String("out", ".", "the `folder` to write the archives to")
	pause := flag.String("pause", "", "the pause `binary` for the sandbox image")
	mirror := flag.String("mirror", "http://deb.debian.org/debian", "the Debian archive's `address`; its packages are verified")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := build(ctx, *out, *pause, *mirror)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, out, pause, mirror string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "podproof-images-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	packages, err := newApt(ctx, dir, mirror)
	if err != nil {
		return err
	}
	for _, image := range []struct {
		file string
		make func(context.Context, *apt) (*image, error)
	}{
		{"pause.tar", func(context.Context, *apt) (*image, error) { return pauseImage(pause) }},
		{"busybox.tar", busyboxImage},
		{"nginx.tar", nginxImage},
	} {
		i, err := image.make(ctx, packages)
		if err == nil {
			err = i.check()
		}
		if err == nil {
			err = i.write(filepath.Join(out, image.file))
		}
		if err != nil {
			return fmt.Errorf("build %s: %w", image.file, err)
		}
		fmt.Fprintln(os.Stderr, "images: built", i.ref, i.config.Labels[versionLabel])
	}
	return nil
}
