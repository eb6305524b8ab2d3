package labs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a lab's files, and where.
type Problem struct {
	// File is the path from the root that was loaded: "ckad-multi/adapter/task.yaml".
	File string
	// Line and Column count from 1; 0 where the problem is of the whole file.
	Line, Column int
	Text         string
}

// String is the form that editors and compilers understand: "file:line:column: text".
func (p Problem) String() string {
	switch {
	case p.Line == 0:
		return p.File + ": " + p.Text
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems is everything that is wrong, in the order of files and lines. As an
// error it reads one line for each.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted puts problems in order and removes repetitions.
func (ps Problems) sorted() Problems {
	slices.SortFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(ps)
}

// err is nil when there are none, so that no caller meets an empty Problems
// that is an error all the same.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.sorted()
}
