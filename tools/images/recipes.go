package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// tree holds the files that packages do not bring, by their path in the image.
//
//go:embed all:files
var tree embed.FS

// versionLabel tells which version of the program an image really holds.
const versionLabel = "org.opencontainers.image.version"

func pauseImage(binary string) (*image, error) {
	b, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read the pause program: %w", err)
	}
	i := newImage("registry.k8s.io/pause:3.10.1")
	i.file("pause", 0o755, b)
	i.config.Entrypoint = []string{"/pause"}
	i.config.User = "65535:65535"
	return i, nil
}

func busyboxImage(ctx context.Context, a *apt) (*image, error) {
	debs, err := a.fetch(ctx, "busybox-static")
	if err != nil {
		return nil, err
	}
	i := newImage("docker.io/library/busybox:1.36")
	i.config.Cmd = []string{"sh"}
	i.config.Labels[versionLabel], err = version(ctx, debs, "busybox-static")
	if err != nil {
		return nil, err
	}
	var only *file
	for _, deb := range debs {
		if err := addTo(ctx, i, deb, func(p string) bool { return strings.HasSuffix(p, "bin/busybox") }); err != nil {
			return nil, err
		}
	}
	for p, f := range i.files {
		if strings.HasSuffix(p, "bin/busybox") {
			only = f
			delete(i.files, p)
		}
	}
	if only == nil {
		return nil, fmt.Errorf("busybox-static holds no busybox")
	}
	i.file("bin/busybox", 0o755, only.body)
	applets, err := listApplets(ctx, a.dir, only.body)
	if err != nil {
		return nil, err
	}
	for _, name := range applets {
		if name != "busybox" {
			i.link("bin/"+name, "busybox")
		}
	}
	i.dir("usr", 0o755)
	i.link("usr/bin", "../bin")
	i.link("sbin", "bin")
	i.link("usr/sbin", "../bin")
	for _, d := range []string{"etc", "home", "root", "var/spool/mail", "var/www", "var/log", "run", "dev", "proc", "sys"} {
		i.dir(d, 0o755)
	}
	i.dir("tmp", 0o1777)
	return i, i.addTree("busybox")
}

// listApplets asks the program itself.
func listApplets(ctx context.Context, dir string, program []byte) ([]string, error) {
	path := filepath.Join(dir, "busybox")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, path, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list busybox's applets: %w", err)
	}
	return strings.Fields(string(out)), nil
}

func nginxImage(ctx context.Context, a *apt) (*image, error) {
	debs, err := a.fetch(ctx, "nginx", "curl", "ca-certificates", "gettext-base", "base-files", "base-passwd",
		"bash", "coreutils", "dash", "debianutils", "findutils", "grep", "gzip", "hostname", "libc-bin", "mawk", "sed", "tar")
	if err != nil {
		return nil, err
	}
	i := newImage("docker.io/library/nginx:1.27")
	i.merge()
	for _, deb := range debs {
		if leftOut(filepath.Base(deb)) {
			continue
		}
		if err := addTo(ctx, i, deb, needed); err != nil {
			return nil, err
		}
	}
	v, err := version(ctx, debs, "nginx")
	if err != nil {
		return nil, err
	}
	i.config.Labels[versionLabel] = v
	i.config.Env = append(i.config.Env, "NGINX_VERSION="+strings.SplitN(v, "-", 2)[0])
	i.config.Entrypoint = []string{"/docker-entrypoint.sh"}
	i.config.Cmd = []string{"nginx", "-g", "daemon off;"}
	i.config.StopSignal = "SIGQUIT"
	i.config.ExposedPorts = map[string]struct{}{"80/tcp": {}}
	i.installed()
	for _, d := range []string{"etc/nginx/sites-available", "etc/nginx/sites-enabled", "etc/nginx/modules-enabled", "etc/nginx/snippets"} {
		i.drop(d)
	}
	for _, d := range []string{"etc/nginx/conf.d", "docker-entrypoint.d", "var/cache/nginx", "var/log/nginx", "var/lib/nginx", "run", "proc", "sys", "dev", "root"} {
		i.dir(d, 0o755)
	}
	i.dir("tmp", 0o1777)
	i.link("var/log/nginx/access.log", "/dev/stdout")
	i.link("var/log/nginx/error.log", "/dev/stderr")
	i.link("var/run", "/run")
	return i, i.addTree("nginx")
}

// leftOut names packages that others depend on for their installation only.
func leftOut(deb string) bool {
	for _, p := range []string{"perl", "debconf", "dpkg_", "openssl_", "init-system-helpers", "libperl", "libgdbm", "libdb5", "iproute2", "lsb-base", "sysvinit-utils", "libbpf", "libelf", "libsasl2-modules-db"} {
		if strings.HasPrefix(deb, p) {
			return true
		}
	}
	return false
}

// installed does what the packages' own scripts would do when installed.
func (i *image) installed() {
	i.link("usr/bin/awk", "mawk")
	i.link("usr/bin/sh", "dash")
	passwd, group := []byte("root:x:0:0:root:/root:/bin/bash\n"), []byte("root:x:0:\n")
	if f, ok := i.files["usr/share/base-passwd/passwd.master"]; ok {
		passwd = []byte(strings.Replace(strings.ReplaceAll(string(f.body), ":*:", ":x:"), ":/root:/bin/sh", ":/root:/bin/bash", 1))
	}
	if f, ok := i.files["usr/share/base-passwd/group.master"]; ok {
		group = []byte(strings.ReplaceAll(string(f.body), ":*:", ":x:"))
	}
	i.file("etc/passwd", 0o644, append(passwd, "nginx:x:101:101:nginx user:/nonexistent:/bin/false\n"...))
	i.file("etc/group", 0o644, append(group, "nginx:x:101:\n"...))
	var paths []string
	for p := range i.files {
		if strings.HasPrefix(p, "usr/share/ca-certificates/") && strings.HasSuffix(p, ".crt") {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	var bundle []byte
	for _, p := range paths {
		bundle = append(append(bundle, i.files[p].body...), '\n')
	}
	i.file("etc/ssl/certs/ca-certificates.crt", 0o644, bundle)
}

// drop removes a folder and all below it.
func (i *image) drop(dir string) {
	for p := range i.files {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			delete(i.files, p)
		}
	}
}

// addTree adds our own files; scripts among them can be executed.
func (i *image) addTree(name string) error {
	root := "files/" + name
	return fs.WalkDir(tree, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(b), "#!") {
			mode = 0o755
		}
		i.file(strings.TrimPrefix(p, root+"/"), mode, b)
		return nil
	})
}
