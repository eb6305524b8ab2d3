package equal

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// Image compares two image references: nginx is docker.io/library/nginx:latest.
// Where both carry a digest, the digests decide, for a runtime that is given a
// tag and a digest pulls by the digest. Where one carries a digest and the other
// does not, the tags must be equal, and the digest counts as a closer pin; a
// digest without any tag does not say which tag it is, so it equals none.
func Image(want, got string) (Compared, error) {
	w, err := parseImage(want)
	if err != nil {
		return Compared{}, fmt.Errorf("image %q: %w", want, err)
	}
	g, err := parseImage(got)
	if err != nil {
		return Compared{Want: w.String(), Got: got}, nil
	}
	c := Compared{Want: w.String(), Got: g.String()}
	switch {
	case w.name != g.name:
	case w.digest != "" && g.digest != "":
		c.Equal = w.digest == g.digest
	default:
		c.Equal = w.tag == g.tag
	}
	return c, nil
}

type image struct{ name, tag, digest string }

func (i image) String() string {
	s := i.name
	if i.tag != "" {
		s += ":" + i.tag
	}
	if i.digest != "" {
		s += "@" + i.digest
	}
	return s
}

func parseImage(text string) (image, error) {
	named, err := reference.ParseNormalizedNamed(strings.TrimSpace(text))
	if err != nil {
		return image{}, err
	}
	i := image{name: named.Name()}
	// index.docker.io is an older name of the same registry.
	i.name = strings.Replace(i.name, "index.docker.io/", "docker.io/", 1)
	if t, ok := named.(reference.Tagged); ok {
		i.tag = t.Tag()
	}
	if d, ok := named.(reference.Digested); ok {
		i.digest = d.Digest().String()
	}
	if i.tag == "" && i.digest == "" {
		i.tag = "latest"
	}
	return i, nil
}
