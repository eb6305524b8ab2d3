package grader

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// listed joins names; an empty list is a dash, so that no result shows nothing.
func listed(names []string) string {
	if len(names) == 0 {
		return "—"
	}
	return strings.Join(names, ", ")
}

// quoteList joins names for use within a sentence.
func quoteList(names []string) string {
	if len(names) == 0 {
		return "—"
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func itoa[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// optional prints a number that may be unset.
func optional[T ~int32 | ~int64](n *T) string {
	if n == nil {
		return unset
	}
	return itoa(*n)
}

// unset stands for a field that has no value.
const unset = "∅"
