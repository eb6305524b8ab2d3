package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// apt fetches packages and reads their files, as any user and without
// installing anything on the machine.
type apt struct{ dir string }

// fetch downloads the packages with all that they depend on, and returns the
// paths of the package files.
func (a *apt) fetch(ctx context.Context, packages ...string) ([]string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil, errors.New("images are built from Debian packages, and this machine has no apt-get; load archives of the images from another machine instead")
	}
	for _, d := range []string{"partial"} {
		if err := os.MkdirAll(filepath.Join(a.dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	// An empty status file makes apt believe that nothing is installed.
	status := filepath.Join(a.dir, "status")
	if err := os.WriteFile(status, nil, 0o644); err != nil {
		return nil, err
	}
	args := []string{
		"-qq", "-y", "--download-only", "--no-install-recommends",
		"-o", "Dir::State::status=" + status, "-o", "Dir::Cache::archives=" + a.dir,
		"-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=", "-o", "Dir::State::extended_states=" + status,
		"install",
	}
	cmd := exec.CommandContext(ctx, "apt-get", append(args, packages...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("fetch %s: %w (is `apt-get update` due?)\n%s", strings.Join(packages, " "), err, out)
	}
	found, err := filepath.Glob(filepath.Join(a.dir, "*.deb"))
	sort.Strings(found)
	return found, err
}

// version is the package's, without Debian's own suffixes.
func version(ctx context.Context, debs []string, name string) (string, error) {
	for _, deb := range debs {
		if !strings.HasPrefix(filepath.Base(deb), name+"_") {
			continue
		}
		out, err := exec.CommandContext(ctx, "dpkg-deb", "--field", deb, "Version").Output()
		return strings.TrimSpace(string(out)), err
	}
	return "", fmt.Errorf("no package %s was fetched", name)
}

// addTo puts the files of a package into the image, without those that only
// people read.
func addTo(ctx context.Context, i *image, deb string, want func(path string) bool) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r := tar.NewReader(out)
	for {
		var h *tar.Header
		if h, err = r.Next(); err != nil {
			break
		}
		if path := clean(h.Name); want(path) {
			if err = i.addEntry(path, h, r); err != nil {
				break
			}
		}
	}
	if errors.Is(err, io.EOF) {
		_, err = io.Copy(io.Discard, out)
	}
	return errors.Join(err, waited(cmd, &said))
}

func waited(cmd *exec.Cmd, said *bytes.Buffer) error {
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said)
	}
	return nil
}

func needed(path string) bool {
	for _, p := range []string{"usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/lintian", "usr/share/bug", "usr/share/zoneinfo"} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return false
		}
	}
	return true
}
