package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/podproof/podproof/labs"
)

// Catalog loads the built-in labs and those in the given folders; a lab in a
// folder takes the place of a built-in one of the same name. The catalogue is
// usable only where the error is nil; the error names every problem.
func Catalog(dirs []string) (*labs.Catalog, error) {
	var catalogs []*labs.Catalog
	var problems []error
	add := func(where string, c *labs.Catalog, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("labs in %s:\n%w", where, err))
		}
		catalogs = append(catalogs, c)
	}
	c, err := labs.Load(labs.Embedded())
	add("podproof itself", c, err)
	for _, dir := range dirs {
		c, err := labs.Load(os.DirFS(dir))
		add(dir, c, err)
	}
	return labs.Merge(catalogs...), errors.Join(problems...)
}

// Namespaces are the labs' namespaces of a single learner, in order.
func Namespaces(c *labs.Catalog) []string {
	var names []string
	for _, lab := range c.Labs {
		names = append(names, lab.Name)
	}
	return names
}
