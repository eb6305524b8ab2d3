package labs

import "path"

// Lint reports what is wrong with a catalogue that Load finds sound: what a
// learner would stumble on or a grader could not prove. It needs no cluster.
func Lint(c *Catalog) Problems {
	var problems Problems
	for _, lab := range c.Labs {
		for _, t := range lab.Tasks {
			if n := len(t.Cases.Accepted); n < 3 {
				problems = append(problems, Problem{path.Join(t.dir, "task.yaml"), 0, 0, "a task needs at least 3 accepted cases"})
			}
		}
	}
	return problems.sorted()
}
