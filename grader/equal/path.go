package equal

import (
	"errors"
	"path"
)

// Path compares two file or mount paths: /data/ is /data, /a//b is /a/b.
func Path(want, got string) (Compared, error) {
	if want == "" {
		return Compared{}, errors.New("path: empty")
	}
	if got == "" {
		return Compared{Want: path.Clean(want)}, nil
	}
	return compare(path.Clean(want), path.Clean(got)), nil
}
