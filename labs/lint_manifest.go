package labs

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	kjson "sigs.k8s.io/json"
)

// images are all that a machine without a network has.
func images() []string { return []string{"busybox:1.36", "nginx:1.27"} }

// onPurpose is the comment by which an author says that a line is meant to be
// wrong, as a setup that the learner has to mend is.
const onPurpose = "on purpose"

// What lint looks for in the lines of answers.
var (
	dnsLookup       = regexp.MustCompile(`\b(nslookup|dig)\b`)
	outside         = regexp.MustCompile(`https?://[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*\.(com|org|net|io|dev)\b|\b(apk add|apt-get|apt install|pip install)\b`)
	scriptImage     = regexp.MustCompile(`(?:--image[= ]|\bimage: *|\bset image .*=)["']?([a-z0-9][^\s"',}]*)`)
	scriptNamespace = regexp.MustCompile(`(?:\s-n[ =]?|--namespace[= ]|^\s*namespace: *)["']?([a-z][a-z0-9-]*)`)
	kubectlCall     = regexp.MustCompile(`\b(kubectl|k)\s|^\s*namespace:`)
)

// lintAnswers lints the manifests and scripts of the task.
func (l *linter) lintAnswers() {
	for _, file := range slices.Sorted(maps.Keys(l.task.sources)) {
		script := strings.HasSuffix(file, ".sh")
		if !script && !strings.HasSuffix(file, ".yaml") {
			continue
		}
		s, err := l.inst.Case(file)
		if err != nil {
			continue // Load has reported it
		}
		l.lintLines(file, s.Text)
		if script {
			l.lintScript(file, s.Text)
		} else {
			l.lintManifest(file, s.Text, l.refused(file))
		}
	}
}

// refused reports whether a file is an answer that the API server turns away.
func (l *linter) refused(file string) bool {
	for _, c := range l.inst.Cases.Rejected {
		if c.Path() == file {
			return c.Refused
		}
	}
	return false
}

// lintLines reports what neither manifests nor scripts should hold.
func (l *linter) lintLines(file, text string) {
	lab := l.namespaceWord()
	l.eachLine(text, func(number int, line string) {
		if dnsLookup.MatchString(line) && !strings.HasPrefix(file, "rejected/") {
			l.report(file, number, 0, "nslookup and dig are unreliable as waits: use wget or nc -z")
		}
		if m := outside.FindString(line); m != "" {
			l.report(file, number, 0, "labs need no outside network: %s", m)
		}
		if lab.MatchString(line) {
			l.report(file, number, 0, "%s is written out: a learner's namespace may be another, {{.namespace}} is its name", l.task.Ref.Lab)
		}
	})
}

// namespaceWord finds the lab's name where it is used as a namespace's.
func (l *linter) namespaceWord() *regexp.Regexp {
	return regexp.MustCompile("(-n[ =]?|[Nn]amespace[=:` ]+|\\bns[=/ ]|[a-z0-9]\\.|`)" + regexp.QuoteMeta(l.task.Ref.Lab) + "([^a-z0-9/-]|$)")
}

// eachLine visits the lines that do not say that they are wrong on purpose.
func (l *linter) eachLine(text string, visit func(number int, line string)) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if !strings.Contains(line, onPurpose) {
			visit(number, line)
		}
	}
}

// lintScript reports images and namespaces in kubectl's flags and in manifests
// within the script.
func (l *linter) lintScript(file, text string) {
	l.eachLine(text, func(number int, line string) {
		for _, m := range scriptImage.FindAllStringSubmatch(line, -1) {
			l.lintImage(file, number, 0, m[1])
		}
		if !kubectlCall.MatchString(line) {
			return
		}
		kubectlPart, _, _ := strings.Cut(line, " -- ") // what follows runs in a container
		if m := scriptNamespace.FindStringSubmatch(kubectlPart); m != nil && m[1] != sentinel {
			l.report(file, number, 0, "namespace %s is written out: leave it to the context, or use $NAMESPACE", m[1])
		}
	})
}

func (l *linter) lintImage(file string, line, column int, image string) {
	short := image
	for _, prefix := range []string{"index.", "docker.io/", "library/"} {
		short = strings.TrimPrefix(short, prefix)
	}
	if !slices.Contains(images(), short) {
		l.report(file, line, column, "image %s: labs use only %s", image, strings.Join(images(), " and "))
	}
}

func (l *linter) lintManifest(file, text string, refused bool) {
	docs, problems := parseYAML("", text)
	for _, p := range problems {
		l.report(file, p.Line, p.Column, "%s", p.Text)
	}
	if len(docs) == 0 && len(problems) == 0 {
		l.report(file, 0, 0, "this manifest holds no object")
	}
	for _, doc := range docs {
		for _, object := range listed(doc) {
			l.lintObject(file, object, refused)
		}
	}
}

func (l *linter) lintObject(file string, n *yaml.Node, refused bool) {
	before := len(l.problems)
	if ns := find(n, "metadata", "namespace"); ns != nil && ns.Value != sentinel && !strings.Contains(ns.LineComment, onPurpose) {
		l.report(file, ns.Line, ns.Column, "namespace %s is written out: manifests go into the learner's namespace", ns.Value)
	}
	l.lintNodes(file, n, "", refused)
	if refused || len(l.problems) > before {
		return
	}
	dec := &decoder{file: file}
	value := dec.value(n)
	for _, p := range dec.problems {
		l.report(file, p.Line, p.Column, "%s", p.Text)
	}
	if len(dec.problems) > 0 {
		return
	}
	typed := newObject(textAt(n, "apiVersion"), textAt(n, "kind"))
	if typed == nil {
		l.report(file, n.Line, n.Column, "labs know no kind %s in apiVersion %s", textAt(n, "kind"), textAt(n, "apiVersion"))
		return
	}
	if textAt(n, "metadata", "name") == "" {
		l.report(file, n.Line, n.Column, "this object has no name")
	}
	data, err := json.Marshal(value)
	if err != nil {
		l.report(file, n.Line, n.Column, "%v", err)
		return
	}
	strict, err := kjson.UnmarshalStrict(data, typed)
	if err != nil {
		l.report(file, n.Line, n.Column, "%s", strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	for _, problem := range strict {
		where := l.unknownField(n, problem.Error())
		l.report(file, where.Line, where.Column, "%v", problem)
	}
}

// unknownField finds the node that a strict decoding error names by its path.
func (l *linter) unknownField(n *yaml.Node, problem string) *yaml.Node {
	m := regexp.MustCompile(`"([^"]+)"`).FindStringSubmatch(problem)
	if m == nil {
		return n
	}
	for _, step := range strings.FieldsFunc(m[1], func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		var next *yaml.Node
		switch n.Kind {
		case yaml.SequenceNode:
			i := 0
			for _, digit := range step {
				i = i*10 + int(digit-'0')
			}
			next = child(n, i)
		default:
			next = child(n, step)
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// lintNodes reports images and unquoted scalars anywhere in an object.
func (l *linter) lintNodes(file string, n *yaml.Node, key string, refused bool) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			l.lintNodes(file, item, key, refused)
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	texts := slices.Contains([]string{"annotations", "labels", "matchLabels", "nodeSelector", "data", "stringData"}, key)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		unquoted := value.Kind == yaml.ScalarNode && slices.Contains([]string{"!!bool", "!!int", "!!float"}, value.ShortTag())
		switch {
		case !refused && unquoted && texts:
			l.report(file, value.Line, value.Column, "%s: %s must be in quotes: the API takes text only", name.Value, value.Value)
		case !refused && unquoted && key == "env" && name.Value == "value":
			l.report(file, value.Line, value.Column, "the value %s of a variable must be in quotes: the API takes text only", value.Value)
		case name.Value == "image" && strings.HasSuffix(strings.ToLower(key), "containers") && !strings.Contains(value.LineComment, onPurpose):
			l.lintImage(file, value.Line, value.Column, value.Value)
		}
		l.lintNodes(file, value, name.Value, refused)
	}
}

// newObject returns an empty object of a kind that labs use, nil for others.
func newObject(apiVersion, kind string) any {
	switch apiVersion + "/" + kind {
	case "v1/Pod":
		return &corev1.Pod{}
	case "v1/Service":
		return &corev1.Service{}
	case "v1/ConfigMap":
		return &corev1.ConfigMap{}
	case "v1/Secret":
		return &corev1.Secret{}
	case "v1/ServiceAccount":
		return &corev1.ServiceAccount{}
	case "v1/PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}
	case "apps/v1/Deployment":
		return &appsv1.Deployment{}
	case "apps/v1/ReplicaSet":
		return &appsv1.ReplicaSet{}
	case "apps/v1/StatefulSet":
		return &appsv1.StatefulSet{}
	case "apps/v1/DaemonSet":
		return &appsv1.DaemonSet{}
	case "batch/v1/Job":
		return &batchv1.Job{}
	case "batch/v1/CronJob":
		return &batchv1.CronJob{}
	case "networking.k8s.io/v1/NetworkPolicy":
		return &networkingv1.NetworkPolicy{}
	}
	return nil
}
