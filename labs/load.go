package labs

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// labFile is lab.yaml.
type labFile struct {
	APIVersion string `json:"apiVersion" jsonschema:"required,enum=podproof/v1"`
	Kind       string `json:"kind" jsonschema:"required,enum=Lab"`
	// Name is the folder's name.
	Name string `json:"name" jsonschema:"required,pattern=^[a-z]([a-z0-9-]*[a-z0-9])?$"`
	// Namespace is the lab's namespace; a lab's folder is named after it.
	Namespace string `json:"namespace" jsonschema:"required"`
	Title     Text   `json:"title" jsonschema:"required"`
	Summary   Text   `json:"summary" jsonschema:"required"`
	// Tasks lists the folders of all tasks in the order of the course.
	Tasks []string `json:"tasks" jsonschema:"required,minItems=1"`
}

// taskFile is task.yaml.
type taskFile struct {
	APIVersion string `json:"apiVersion" jsonschema:"required,enum=podproof/v1"`
	Kind       string `json:"kind" jsonschema:"required,enum=Task"`
	Title      Text   `json:"title" jsonschema:"required"`
	// Curriculum is the CKAD domain that the task belongs to.
	Curriculum string `json:"curriculum" jsonschema:"required,pattern=^[a-z][a-z-]*$"`
	// Difficulty runs from 1 (recall) to 3 (several ideas at once).
	Difficulty int `json:"difficulty" jsonschema:"required,minimum=1,maximum=3"`
	// Minutes that a person who knows the subject needs.
	Minutes int `json:"minutes" jsonschema:"required,minimum=1,maximum=60"`
	// Docs are pages of the Kubernetes documentation.
	Docs []string `json:"docs" jsonschema:"required,minItems=1"`
	// Params are values that differ from one learner to the next.
	Params map[string]Param `json:"params,omitempty"`
	Checks []Check          `json:"checks" jsonschema:"required,minItems=1"`
	// Hints lead from a nudge to nearly the answer.
	Hints []Text `json:"hints" jsonschema:"required,minItems=1"`
	Cases Cases  `json:"cases" jsonschema:"required"`
}

// Load reads every lab below the root of fsys: a lab is a folder with lab.yaml.
// Folders whose names begin with a dot or underscore, and testdata, are passed over.
//
// The catalogue is never nil: it holds every task that is sound. The error, if
// any, is Problems with all that is wrong in the rest.
func Load(fsys fs.FS) (*Catalog, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return &Catalog{}, fmt.Errorf("read labs: %w", err)
	}
	catalog := &Catalog{}
	var problems Problems
	found := false
	for _, e := range entries {
		name := e.Name()
		if !isDir(fsys, name, e) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" {
			continue
		}
		if _, err := fs.Stat(fsys, path.Join(name, "lab.yaml")); err != nil {
			if tasks, _ := fs.Glob(fsys, name+"/*/task.yaml"); len(tasks) > 0 {
				problems = append(problems, Problem{name, 0, 0, "this folder holds tasks but no lab.yaml"})
			}
			continue
		}
		found = true
		lab, more := loadLab(fsys, name)
		problems = append(problems, more...)
		if lab != nil {
			catalog.Labs = append(catalog.Labs, lab)
		}
	}
	if !found && len(problems) == 0 {
		problems = append(problems, Problem{".", 0, 0, "no lab here: a lab is a folder with lab.yaml, below the folder that is given"})
	}
	return catalog, problems.err()
}

// hidden files are an editor's or the system's, not the lab's.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") }

func isDir(fsys fs.FS, name string, e fs.DirEntry) bool {
	if e.IsDir() {
		return true
	}
	info, err := fs.Stat(fsys, name) // follows a symbolic link
	return err == nil && info.IsDir()
}

func loadLab(fsys fs.FS, dir string) (*Lab, Problems) {
	file := path.Join(dir, "lab.yaml")
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, Problems{{file, 0, 0, err.Error()}}
	}
	doc, problems := parseDocument(file, string(text))
	if doc == nil {
		return nil, problems
	}
	var lf labFile
	problems = append(problems, doc.decode(&lf)...)
	for _, x := range []struct{ key, value string }{{"name", lf.Name}, {"namespace", lf.Namespace}} {
		if x.value != "" && x.value != dir {
			problems = append(problems, doc.problem(at(doc.root, x.key), "%q must be the folder's name %q", x.value, dir))
		}
	}

	lab := &Lab{Name: dir, Title: lf.Title, Summary: lf.Summary}
	seen := map[string]bool{}
	for i, name := range lf.Tasks {
		here := at(doc.root, "tasks", i)
		switch _, err := fs.Stat(fsys, path.Join(dir, name, "task.yaml")); {
		case seen[name]:
			problems = append(problems, doc.problem(here, "task %q is listed twice", name))
			continue
		case !fs.ValidPath(name) || strings.Contains(name, "/") || err != nil:
			problems = append(problems, doc.problem(here, "there is no task folder %q with a task.yaml", name))
			continue
		}
		seen[name] = true
		task, more := loadTask(fsys, Ref{dir, name})
		problems = append(problems, more...)
		if task != nil {
			lab.Tasks = append(lab.Tasks, task)
		}
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		problems = append(problems, Problem{dir, 0, 0, err.Error()})
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case hidden(name):
		case e.IsDir() && !seen[name]:
			problems = append(problems, doc.problem(at(doc.root, "tasks"), "folder %q is not listed", name))
		case !e.IsDir() && name != "lab.yaml":
			problems = append(problems, Problem{path.Join(dir, name), 0, 0, "a lab's folder holds lab.yaml and the folders of its tasks"})
		}
	}
	return lab, problems
}

// taskFiles are the files of a task's folder besides its cases.
func taskFiles() (needed, allowed []string) {
	needed = []string{"task.yaml", "prompt.en.md", "prompt.ja.md", "solution.en.md", "solution.ja.md"}
	return needed, append(slices.Clone(needed), "setup.yaml", "solution.yaml", "solution.sh")
}

// loadTask reads a task's folder; the task is nil where it has problems.
func loadTask(fsys fs.FS, ref Ref) (*Task, Problems) {
	dir := ref.String()
	texts, problems := readFolder(fsys, dir)
	file := path.Join(dir, "task.yaml")
	doc, more := parseDocument(file, texts["task.yaml"])
	if problems = append(problems, more...); doc == nil {
		return nil, problems
	}
	t := &Task{Ref: ref, dir: dir, doc: doc, sources: map[string]*source{}}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if name == "task.yaml" {
			continue
		}
		s, err := parseSource(texts[name])
		if err != nil {
			problems = append(problems, Problem{path.Join(dir, name), errorLine(err), 0, err.Error()})
			s = &source{text: texts[name]}
		}
		t.sources[name] = s
	}
	problems = append(problems, t.decodeParams()...)
	problems = append(problems, t.checkParams()...)
	problems = append(problems, t.decodeVariants(problems)...)
	if len(problems) > 0 {
		return nil, problems
	}
	t.Prompt = Text{EN: texts["prompt.en.md"], JA: texts["prompt.ja.md"]}
	t.Solution = Text{EN: texts["solution.en.md"], JA: texts["solution.ja.md"]}
	t.Setup = texts["setup.yaml"]
	for _, name := range []string{"solution.sh", "solution.yaml"} {
		if text, ok := texts[name]; ok {
			t.Answer = Script{File: name, Text: text}
		}
	}
	return t, nil
}

// readFolder reads all files of a task and reports those that are missing,
// empty or unknown.
func readFolder(fsys fs.FS, dir string) (map[string]string, Problems) {
	var problems Problems
	texts := map[string]string{}
	needed, allowed := taskFiles()
	caseFile := regexp.MustCompile(`^(accepted|rejected)/[^/]+\.(yaml|sh)$`)
	err := fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || hidden(e.Name()) {
			return err
		}
		rel := strings.TrimPrefix(name, dir+"/")
		if !slices.Contains(allowed, rel) && !caseFile.MatchString(rel) {
			problems = append(problems, Problem{name, 0, 0, "a task's folder has no such file" + didYouMean(rel, allowed)})
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(text)) == "" {
			problems = append(problems, Problem{name, 0, 0, "this file is empty"})
		}
		texts[rel] = string(text)
		return nil
	})
	if err != nil {
		problems = append(problems, Problem{dir, 0, 0, err.Error()})
	}
	for _, name := range needed {
		if _, ok := texts[name]; !ok {
			problems = append(problems, Problem{dir, 0, 0, "missing file " + name})
		}
	}
	_, manifest := texts["solution.yaml"]
	_, script := texts["solution.sh"]
	if manifest == script {
		problems = append(problems, Problem{dir, 0, 0, "a task has one reference answer: solution.yaml or solution.sh"})
	}
	return texts, problems
}

// Merge puts catalogues one after the other. A lab whose name has come before
// takes the earlier one's place, so that an author's working copy stands in
// for the lab that is built in.
func Merge(catalogs ...*Catalog) *Catalog {
	out := &Catalog{}
	for _, c := range catalogs {
		for _, lab := range c.Labs {
			i := slices.IndexFunc(out.Labs, func(l *Lab) bool { return l.Name == lab.Name })
			if i >= 0 {
				out.Labs[i] = lab
			} else {
				out.Labs = append(out.Labs, lab)
			}
		}
	}
	return out
}

// Task finds a task by its name.
func (c *Catalog) Task(ref Ref) (*Task, bool) {
	for _, lab := range c.Labs {
		if lab.Name != ref.Lab {
			continue
		}
		for _, t := range lab.Tasks {
			if t.Ref == ref {
				return t, true
			}
		}
	}
	return nil, false
}
