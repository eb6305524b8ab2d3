package grader

import (
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// sharedVolume: every container mounts one and the same volume, at its path,
// and may write where it must.
func (c *compiler) sharedVolume(m *labs.SharedVolume) {
	if !c.on("sharedVolume", withPods()...) {
		return
	}
	if m.Type != "" && !slices.Contains(volumeTypes(), m.Type) {
		c.problem("sharedVolume.type: %q is no kind of volume", m.Type)
	}
	for _, name := range append(slices.Clone(m.ReadOnly), m.Either...) {
		if _, ok := m.Mounts[name]; !ok {
			c.problem("sharedVolume: %q is not one of the containers in mounts", name)
		}
	}
	c.look(Declared, 0, func(s *scene) finding { return shared(s, m) })
}

func shared(s *scene, m *labs.SharedVolume) finding {
	spec := &s.obj.template.Spec
	mounts := map[string]*corev1.VolumeMount{}
	names := sortedKeys(m.Mounts)
	for _, name := range names {
		k, f := s.obj.pick(name)
		if k.Container == nil {
			return f.doc(docVolumes)
		}
		mount := mountedAt(k.Container, m.Mounts[name])
		if mount == nil {
			have := mountPaths(k.Container)
			return fail(Msg("volume.noMount", "container", name, "path", m.Mounts[name], "found", quoteList(have))).
				at(s.obj.in(k.path())+".volumeMounts").compared(m.Mounts[name], listed(have)).doc(docVolumes)
		}
		mounts[name] = mount
	}
	first := mounts[names[0]]
	for _, name := range names[1:] {
		mount := mounts[name]
		k, _ := s.obj.pick(name)
		where := s.obj.in(k.path()) + ".volumeMounts"
		if mount.Name != first.Name {
			return fail(Msg("volume.different", "first", names[0], "volume", first.Name,
				"second", name, "other", mount.Name, "path", m.Mounts[name])).at(where).
				compared(first.Name, mount.Name).why(Msg("volume.different.why")).doc(docVolumes)
		}
		if path.Clean("/"+mount.SubPath) != path.Clean("/"+first.SubPath) || mount.SubPathExpr != first.SubPathExpr {
			return fail(Msg("volume.subPath", "first", names[0], "second", name, "volume", first.Name)).at(where).
				compared(subPath(first), subPath(mount)).doc(docVolumes)
		}
	}
	source := volumeType(spec, first.Name)
	if m.Type != "" && source != m.Type {
		return fail(Msg("volume.type", "volume", first.Name, "expected", m.Type, "observed", source)).
			at(s.obj.in("spec.volumes["+first.Name+"]")).compared(m.Type, source).doc(docVolumes)
	}
	// The kubelet mounts these read-only whatever the mount says.
	fixed := slices.Contains([]string{"configMap", "secret", "projected", "downwardAPI"}, source)
	for _, name := range names {
		k, _ := s.obj.pick(name)
		where := s.obj.in(k.path()) + ".volumeMounts[" + first.Name + "].readOnly"
		readOnly := mounts[name].ReadOnly
		switch {
		case slices.Contains(m.Either, name) || fixed:
		case slices.Contains(m.ReadOnly, name) && !readOnly:
			return fail(Msg("volume.writable", "container", name, "path", m.Mounts[name])).at(where).
				compared("true", "false").why(Msg("volume.writable.why")).doc(docVolumes)
		case !slices.Contains(m.ReadOnly, name) && readOnly:
			return fail(Msg("volume.readOnly", "container", name, "path", m.Mounts[name])).at(where).
				compared("false", "true").doc(docVolumes)
		}
	}
	if m.Only {
		for _, name := range containerNames(spec) {
			if _, asked := m.Mounts[name]; asked {
				continue
			}
			k, _ := containerNamed(spec, name)
			for i := range k.VolumeMounts {
				if k.VolumeMounts[i].Name == first.Name {
					return fail(Msg("volume.alsoMounted", "container", name, "volume", first.Name)).
						at(s.obj.in(k.path())+".volumeMounts").compared(listed(names), name).doc(docVolumes)
				}
			}
		}
	}
	return pass(Msg("volume.shared", "volume", first.Name, "containers", quoteList(names))).
		at(s.obj.in("spec.volumes[" + first.Name + "]"))
}

func mountedAt(c *corev1.Container, at string) *corev1.VolumeMount {
	for i := range c.VolumeMounts {
		if path.Clean(c.VolumeMounts[i].MountPath) == path.Clean(at) {
			return &c.VolumeMounts[i]
		}
	}
	return nil
}

// serviceAccountPath is where the API server mounts a token by itself.
const serviceAccountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

func mountPaths(c *corev1.Container) []string {
	var out []string
	for i := range c.VolumeMounts {
		if p := c.VolumeMounts[i].MountPath; p != serviceAccountPath {
			out = append(out, p)
		}
	}
	return out
}

func subPath(m *corev1.VolumeMount) string {
	switch {
	case m.SubPathExpr != "":
		return m.Name + "/" + m.SubPathExpr
	case m.SubPath != "":
		return m.Name + "/" + m.SubPath
	default:
		return m.Name
	}
}

// volumeType is the volume's source as the API spells it: "emptyDir".
func volumeType(spec *corev1.PodSpec, name string) string {
	for i := range spec.Volumes {
		if spec.Volumes[i].Name != name {
			continue
		}
		source := reflect.ValueOf(spec.Volumes[i].VolumeSource)
		for f := range source.NumField() {
			if !source.Field(f).IsNil() {
				return jsonName(source.Type().Field(f))
			}
		}
	}
	return unset
}

func volumeTypes() []string {
	var out []string
	t := reflect.TypeFor[corev1.VolumeSource]()
	for f := range t.NumField() {
		out = append(out, jsonName(t.Field(f)))
	}
	return out
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
