package equal

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Env compares variables in any order. Variables that nobody asked for are left
// out of Got; one that is missing stands there as "NAME unset".
func Env(want, got map[string]string) (Compared, error) {
	var w, g []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name == "" {
			return Compared{}, errors.New("env: a variable has no name")
		}
		w = append(w, name+"="+quoted(want[name]))
		if value, ok := got[name]; ok {
			g = append(g, name+"="+quoted(value))
		} else {
			g = append(g, name+" unset")
		}
	}
	return compare(strings.Join(w, " "), strings.Join(g, " ")), nil
}

// quoted puts quotes around a text that could be misread without.
func quoted(s string) string {
	plain := s != ""
	for _, r := range s {
		if r <= ' ' || r == '"' || r == '\'' || r == '\\' || r == '$' || r == '=' || r > '~' {
			plain = false
		}
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}
