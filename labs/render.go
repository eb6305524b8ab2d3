package labs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// namespaceParam is the name by which texts and manifests mention the
// instance's namespace.
const namespaceParam = "namespace"

// source is a text with template actions.
type source struct {
	text string
	tmpl *template.Template // nil where the text has no action
	refs []reference
	// only is the param's name where the whole text is one action on it.
	only string
}

// reference is a mention of a param at a byte offset of the text.
type reference struct {
	name   string
	offset int
}

// parseSource parses a text; the error is a templateError.
func parseSource(text string) (*source, error) {
	s := &source{text: text}
	if !strings.Contains(text, "{{") {
		return s, nil
	}
	// The nonce is the grader's: its action renders to itself.
	funcs := template.FuncMap{"nonce": func() string { return "{{nonce}}" }}
	tmpl, err := template.New("text").Option("missingkey=error").Funcs(funcs).Parse(text)
	if err != nil {
		return nil, newTemplateError(err)
	}
	s.tmpl = tmpl
	s.walk(tmpl.Root)
	if nodes := tmpl.Root.Nodes; len(nodes) == 1 {
		if a, ok := nodes[0].(*parse.ActionNode); ok && len(a.Pipe.Cmds) == 1 && len(a.Pipe.Cmds[0].Args) == 1 {
			if f, ok := a.Pipe.Cmds[0].Args[0].(*parse.FieldNode); ok && len(f.Ident) == 1 {
				s.only = f.Ident[0]
			}
		}
	}
	return s, nil
}

// walk notes every param that a parsed template mentions.
func (s *source) walk(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, x := range n.Nodes {
				s.walk(x)
			}
		}
	case *parse.ActionNode:
		s.walk(n.Pipe)
	case *parse.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				for _, a := range c.Args {
					s.walk(a)
				}
			}
		}
	case *parse.FieldNode:
		s.refs = append(s.refs, reference{n.Ident[0], int(n.Position()) - 1})
	case *parse.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			s.refs = append(s.refs, reference{n.Ident[1], int(n.Position())})
		}
	case *parse.IfNode:
		s.walkBranch(&n.BranchNode)
	case *parse.WithNode:
		s.walkBranch(&n.BranchNode)
	case *parse.RangeNode:
		s.walkBranch(&n.BranchNode)
	}
}

func (s *source) walkBranch(n *parse.BranchNode) {
	s.walk(n.Pipe)
	s.walk(n.List)
	s.walk(n.ElseList)
}

func (s *source) render(data map[string]any) (string, error) {
	if s.tmpl == nil {
		return s.text, nil
	}
	var out bytes.Buffer
	if err := s.tmpl.Execute(&out, data); err != nil {
		return "", newTemplateError(err)
	}
	return out.String(), nil
}

// position converts a byte offset of the text to its line and column.
func (s *source) position(offset int) (line, column int) {
	before := s.text[:min(max(offset, 0), len(s.text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// templateError is a template's parse or execution error without the
// library's own preamble.
type templateError struct {
	line int // from 1, within the text
	text string
}

func (e *templateError) Error() string { return e.text }

func newTemplateError(err error) *templateError {
	at := regexp.MustCompile(`^template: text:(\d+)(?::\d+)?: (?:executing "text" at )?(.*)$`)
	m := at.FindStringSubmatch(err.Error())
	if m == nil {
		return &templateError{1, err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	return &templateError{line, "template: " + m[2]}
}

// errorLine is the line of a templateError, 0 for other errors.
func errorLine(err error) int {
	var te *templateError
	if errors.As(err, &te) {
		return te.line
	}
	return 0
}

// document is a YAML file whose scalars may hold template actions. They are
// rendered one by one and before decoding, so that a value can't break the
// YAML around it and every position is the source's.
type document struct {
	file    string
	root    *yaml.Node
	sources map[*yaml.Node]*source
}

// parseDocument reads the only document of a YAML file.
func parseDocument(file, text string) (*document, Problems) {
	doc := &document{file: file, sources: map[*yaml.Node]*source{}}
	nodes, problems := parseYAML(file, text)
	switch {
	case len(problems) > 0:
		return nil, problems
	case len(nodes) == 0:
		return nil, Problems{{file, 0, 0, "this file is empty"}}
	case len(nodes) > 1:
		return nil, Problems{{file, nodes[1].Line, nodes[1].Column, "this file must hold one YAML document"}}
	}
	doc.root = nodes[0]
	return doc, doc.compile(doc.root)
}

// compile parses the actions of all scalars from n downwards.
func (d *document) compile(n *yaml.Node) Problems {
	var problems Problems
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "{{") {
		s, err := parseSource(n.Value)
		if err != nil {
			return Problems{{d.file, n.Line, n.Column, err.Error()}}
		}
		d.sources[n] = s
	}
	for _, c := range n.Content {
		problems = append(problems, d.compile(c)...)
	}
	return problems
}

// render returns a copy of the tree with every action carried out, and those
// of its scalars that may serve as text whatever their type.
func (d *document) render(data map[string]any) (root *yaml.Node, either map[*yaml.Node]bool, problems Problems) {
	either = map[*yaml.Node]bool{}
	var visit func(n *yaml.Node) *yaml.Node
	visit = func(n *yaml.Node) *yaml.Node {
		out := *n
		if s := d.sources[n]; s != nil {
			text, err := s.render(data)
			if err != nil {
				problems = append(problems, Problem{d.file, n.Line, n.Column, err.Error()})
			}
			out.Value, out.Tag = text, "!!str"
			if s.only != "" {
				out.Tag, out.Style = tagOf(data[s.only]), 0
				either[&out] = true
			}
		}
		out.Content = make([]*yaml.Node, len(n.Content))
		for i, c := range n.Content {
			out.Content[i] = visit(c)
		}
		return &out
	}
	return visit(d.root), either, problems
}

func tagOf(v any) string {
	switch v.(type) {
	case int64:
		return "!!int"
	case float64:
		return "!!float"
	case bool:
		return "!!bool"
	}
	return "!!str"
}

// decode fills a struct from the document as it stands, actions and all.
func (d *document) decode(into any) Problems {
	dec := &decoder{file: d.file}
	dec.decode(d.root, reflect.ValueOf(into).Elem(), rules{})
	return dec.problems
}

// decodeWith renders the document and fills a struct from it.
func (d *document) decodeWith(data map[string]any, into any) Problems {
	root, either, problems := d.render(data)
	dec := &decoder{file: d.file, either: either, problems: problems}
	dec.decode(root, reflect.ValueOf(into).Elem(), rules{})
	return dec.problems
}

// problem makes a problem at a node of the document.
func (d *document) problem(n *yaml.Node, format string, args ...any) Problem {
	return Problem{d.file, n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// at finds the node at a path of keys and indices as deep as it goes, so that
// a problem about something absent points at what should hold it.
func at(n *yaml.Node, path ...any) *yaml.Node {
	for _, step := range path {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// find finds the node at a path of keys and indices, nil where there is none.
func find(n *yaml.Node, path ...any) *yaml.Node {
	for _, step := range path {
		if n = child(n, step); n == nil {
			return nil
		}
	}
	return n
}

// child is the value at a key of a mapping or an index of a list.
func child(n *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case string:
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					return n.Content[i+1]
				}
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	}
	return nil
}

// parseYAML reads all documents of a file; empty ones are left out.
func parseYAML(file, text string) ([]*yaml.Node, Problems) {
	var out []*yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			return out, Problems{yamlProblem(file, err)}
		}
		if len(n.Content) == 1 && n.Content[0].ShortTag() != "!!null" {
			out = append(out, n.Content[0])
		}
	}
}

func yamlProblem(file string, err error) Problem {
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`).FindStringSubmatch(err.Error())
	if m == nil {
		return Problem{file, 0, 0, err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	return Problem{file, line, 0, "not YAML: " + m[2]}
}
