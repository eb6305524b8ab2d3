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

// release is the Debian release whose packages the images are made of, whatever
// the machine itself runs: it is the one whose versions are nearest to the
// images that the labs name, and its busybox has no known fault (that of
// Debian 12 crashes on wget -T).
const release = "trixie"

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// apt fetches packages and reads their files, as any user, with lists and a
// status of its own: neither the machine's packages nor its settings matter.
type apt struct {
	dir    string
	mirror string
}

func newApt(ctx context.Context, dir, mirror string) (*apt, error) {
	for _, program := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("images are built from Debian packages, and this machine has no %s; take the archives from another machine instead", program)
		}
	}
	if _, err := os.Stat(keyring); err != nil {
		return nil, fmt.Errorf("verify Debian's packages: %w: apt-get install debian-archive-keyring", err)
	}
	for _, d := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	source := fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, release)
	// An empty status file makes apt believe that nothing is installed.
	for name, text := range map[string]string{"sources.list": source, "status": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	a := &apt{dir: dir, mirror: mirror}
	return a, a.run(ctx, "update")
}

func (a *apt) run(ctx context.Context, args ...string) error {
	in := func(name string) string { return filepath.Join(a.dir, name) }
	var argv []string
	for _, option := range []string{
		"Dir::Etc::SourceList=" + in("sources.list"), "Dir::Etc::SourceParts=-", "Dir::State::Lists=" + in("lists"),
		"Dir::State::Status=" + in("status"), "Dir::State::Extended_States=" + in("status"), "Dir::Cache::Archives=" + in("archives"),
		"Dir::Cache::PkgCache=", "Dir::Cache::SrcPkgCache=", "APT::Sandbox::User=", "Debug::NoLocking=true", "APT::Install-Recommends=false",
		"Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false", "Acquire::Retries=3",
		"DPkg::Post-Invoke=", "APT::Update::Post-Invoke=",
	} {
		argv = append(argv, "-o", option)
	}
	cmd := exec.CommandContext(ctx, "apt-get", append(append(argv, "-qq", "-y"), args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s (from %s): %w\n%s", strings.Join(args, " "), a.mirror, err, out)
	}
	return nil
}

// fetch downloads the packages with all that they depend on, and returns the
// paths of the package files.
func (a *apt) fetch(ctx context.Context, packages ...string) ([]string, error) {
	archives := filepath.Join(a.dir, "archives")
	earlier, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	if err != nil {
		return nil, err
	}
	for _, deb := range earlier {
		if err := os.Remove(deb); err != nil {
			return nil, err
		}
	}
	if err := a.run(ctx, append([]string{"--download-only", "install"}, packages...)...); err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	sort.Strings(found)
	return found, err
}

// version is the package's, as Debian writes it.
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
