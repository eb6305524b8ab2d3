// Package labs holds the catalogue: labs, their tasks, and what each task asks
// a grader to check. It reads, validates and renders task folders, and knows
// nothing of clusters, HTTP or storage.
package labs

// Lang is a language that every text exists in, as a BCP 47 tag.
type Lang string

// The languages of the product.
const (
	English  Lang = "en"
	Japanese Lang = "ja"
)

// Langs lists every language in the order in which pages offer them.
func Langs() []Lang { return []Lang{English, Japanese} }

// Text is one text in every language.
type Text struct {
	EN string `json:"en" jsonschema:"required"`
	JA string `json:"ja" jsonschema:"required"`
}

// In returns the text in lang, or in English where lang is unknown.
func (t Text) In(lang Lang) string {
	if lang == Japanese && t.JA != "" {
		return t.JA
	}
	return t.EN
}

// Ref names a task: "ckad-multi/native-sidecar".
type Ref struct {
	Lab  string `json:"lab"`
	Task string `json:"task"`
}

func (r Ref) String() string { return r.Lab + "/" + r.Task }

// Catalog is every lab that was loaded, in order.
type Catalog struct {
	Labs []*Lab
}

// Lab is a namespace and its tasks.
type Lab struct {
	// Name is the lab's folder and its Kubernetes namespace: "ckad-multi".
	Name    string
	Title   Text
	Summary Text
	// Tasks stand in the order in which a course meets them.
	Tasks []*Task
}

// Task is one exercise, as its folder holds it: params are not yet chosen and
// texts and manifests are not yet rendered. Instance does both.
type Task struct {
	Ref        Ref
	Title      Text
	Curriculum string
	// Difficulty runs from 1 (recall) to 3 (several ideas at once).
	Difficulty int
	// Minutes that a person who knows the subject needs.
	Minutes int
	// Docs are pages of the Kubernetes documentation.
	Docs   []string
	Params map[string]Param

	// What follows still holds {{.param}} actions.

	Cases    Cases // only in Says; Instance.Cases are rendered
	Prompt   Text  // Markdown
	Solution Text  // Markdown
	Hints    []Text
	// Setup is the manifest of objects that exist at the start; may be empty.
	Setup string
	// Answer is the reference solution.
	Answer Script

	dir     string             // the task's folder from the root that was loaded
	doc     *document          // task.yaml
	sources map[string]*source // the folder's other files, by their path in it
}

// Param is a value that differs from one learner to the next.
type Param struct {
	// OneOf lists the values; each is a string, a number or a boolean.
	OneOf []any `json:"oneOf" jsonschema:"required,minItems=1"`
}

// Script is an answer: a manifest to apply, or shell steps to run with kubectl.
type Script struct {
	// File is the path in the task's folder: "accepted/imperative.sh".
	File string
	// Text is the file's content.
	Text string
}

// Shell reports whether the answer is run by bash instead of applied.
func (s Script) Shell() bool { return len(s.File) > 3 && s.File[len(s.File)-3:] == ".sh" }

// Cases are answers whose verdict is known, by which verify proves the task.
type Cases struct {
	// At least 3 accepted and 4 rejected ones; Lint holds that, so that a task
	// can be tried while it is being written.
	Accepted []AcceptedCase `json:"accepted" jsonschema:"required"`
	Rejected []RejectedCase `json:"rejected" jsonschema:"required"`
	// Equivalent lists mutants of accepted answers that are right answers too.
	Equivalent []Equivalent `json:"equivalent,omitempty"`
}

// AcceptedCase is a right answer unlike the reference one.
type AcceptedCase struct {
	// File stands in accepted/.
	File string `json:"file" jsonschema:"required"`
	// Why says in what it differs from the reference answer.
	Why string `json:"why,omitempty"`
}

// RejectedCase is a mistake that people make.
type RejectedCase struct {
	// File stands in rejected/.
	File string `json:"file" jsonschema:"required"`
	// Fails lists the ids of exactly the checks that must not pass.
	Fails []string `json:"fails" jsonschema:"required,minItems=1"`
	// Says must stand in the English reason of one of the failed checks.
	Says string `json:"says" jsonschema:"required"`
	// Refused marks an answer that the API server itself turns away.
	Refused bool `json:"refused,omitempty"`
}

// Equivalent justifies a mutant that still scores full.
type Equivalent struct {
	// Mutant is the name that verify --mutate prints, or a glob of such names.
	Mutant string `json:"mutant" jsonschema:"required"`
	Why    string `json:"why" jsonschema:"required"`
}

// Instance is a task for one learner: params chosen, everything rendered.
// The action {{nonce}} in checks is left for the grader, which draws a fresh
// value for each grading.
type Instance struct {
	Task      *Task
	Namespace string
	Params    map[string]any
	Prompt    Text
	Solution  Text
	Hints     []Text
	Setup     string
	Answer    Script
	Checks    []Check
	Cases     Cases

	data map[string]any // what templates see
	file taskFile       // task.yaml as rendered
}

// Points is the most that the instance's checks can earn.
func (i *Instance) Points() int {
	n := 0
	for _, c := range i.Checks {
		n += c.Points
	}
	return n
}
