package labs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// lintTexts reports facts that stand in the text of one language only.
func (l *linter) lintTexts() {
	for _, name := range []string{"prompt", "solution"} {
		en, ja := name+".en.md", name+".ja.md"
		l.compareTexts(l.fileText(en), l.fileText(ja))
		for _, file := range []string{en, ja} {
			l.lintTextLines(l.fileText(file))
		}
	}
	for _, file := range []string{"solution.en.md", "solution.ja.md"} {
		if s := l.task.sources[file]; s != nil && !strings.Contains(s.text, "https://kubernetes.io/") {
			l.report(file, 0, 0, "a solution links to the Kubernetes documentation")
		}
	}
	pair := func(where ...any) {
		en, ja := l.yamlText(append(where, "en")...), l.yamlText(append(where, "ja")...)
		l.compareTexts(en, ja)
		l.lintTextLines(en)
		l.lintTextLines(ja)
	}
	pair("title")
	for i := range l.task.Hints {
		pair("hints", i)
	}
	for i := range l.inst.Checks {
		pair("checks", i, "title")
	}
}

// lintTextLines reports a namespace that is written out in a text.
func (l *linter) lintTextLines(t prose) {
	if m := l.namespaceWord().FindStringIndex(t.text); m != nil {
		t.report(m[0], "%s is written out: a learner's namespace may be another, {{.namespace}} is its name", l.task.Ref.Lab)
	}
}

// prose is a text and a way to report a problem at a byte offset of it.
type prose struct {
	lang   string
	exact  bool // each name counts: a prompt
	text   string
	report func(offset int, format string, args ...any)
}

func (l *linter) fileText(file string) prose {
	s := l.task.sources[file]
	if s == nil {
		s = &source{}
	}
	return prose{langOf(file), strings.HasPrefix(file, "prompt."), s.text, func(offset int, format string, args ...any) {
		line, column := s.position(offset)
		l.report(file, line, column, format, args...)
	}}
}

func langOf(file string) string {
	if strings.HasSuffix(file, ".ja.md") {
		return "Japanese"
	}
	return "English"
}

func (l *linter) yamlText(where ...any) prose {
	n := at(l.task.doc.root, where...)
	lang := "English"
	if where[len(where)-1] == "ja" {
		lang = "Japanese"
	}
	return prose{lang, false, n.Value, func(_ int, format string, args ...any) {
		l.report("task.yaml", n.Line, n.Column, format, args...)
	}}
}

// fact is a name, number, link or piece of code in a text.
type fact struct {
	kind, value string
	offset      int // of its first place
}

// compareTexts reports facts of either text that the other lacks.
func (l *linter) compareTexts(en, ja prose) {
	if en.text == "" || ja.text == "" {
		return // Load reports a text that is missing
	}
	inEN, inJA := factsOf(en.text), factsOf(ja.text)
	lacks := func(a prose, facts map[string]fact, b prose, others map[string]fact) {
		for _, key := range slices.Sorted(maps.Keys(facts)) {
			f := facts[key]
			switch _, ok := others[key]; {
			case ok, f.kind == "number" && b.says(f.value):
				continue
			case f.kind == "kind" && !a.exact:
				// A hint or an explanation may leave out what its language can
				// do without.
				continue
			}
			a.report(f.offset, "the %s %s stands in the %s text only", f.kind, f.value, a.lang)
		}
	}
	lacks(en, inEN, ja, inJA)
	lacks(ja, inJA, en, inEN)
}

// says reports whether a text has a small number in words, or may have it in a
// turn of phrase: "both", "the second", "twice".
func (p prose) says(number string) bool {
	words := map[string][]string{
		"0": {"zero", "no", "none", "零", "ゼロ"}, "1": nil, "2": nil, "3": nil,
		"4": {"four", "fourth", "四"}, "5": {"five", "fifth", "五"}, "6": {"six", "sixth", "六"},
		"7": {"seven", "seventh", "七"}, "8": {"eight", "eighth", "八"}, "9": {"nine", "ninth", "九"},
		"10": {"ten", "tenth", "十"}, "11": {"eleven", "十一"}, "12": {"twelve", "dozen", "十二"},
	}
	alternatives, small := words[number]
	if !small {
		return false
	}
	if alternatives == nil {
		return true
	}
	lower := strings.ToLower(p.text)
	for _, w := range alternatives {
		if w[0] >= 0x80 && strings.Contains(lower, w) || slices.Contains(strings.FieldsFunc(lower, notLetter), w) {
			return true
		}
	}
	return false
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// What factsOf reads in Markdown.
var (
	codeBlock  = regexp.MustCompile("(?ms)^[ \t]*```[^\n]*\n(.*?)^[ \t]*```")
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	webLink    = regexp.MustCompile(`https?://[!#-&*-=?-\[_a-~]+`)
	anyAction  = regexp.MustCompile(`\{\{[^}]*\}\}`)
	listNumber = regexp.MustCompile(`(?m)^[ \t]*[0-9]+[.)] `)
	kindWord   = regexp.MustCompile(`\b(Pod|Deployment|ReplicaSet|Job|CronJob|Service|ConfigMap|Secret|PersistentVolumeClaim|ServiceAccount)s?\b`)
	anyNumber  = regexp.MustCompile(`[0-9]+([.,:][0-9]+)*`)
)

// factsOf lists the facts of a Markdown text by "kind value".
func factsOf(text string) map[string]fact {
	facts := map[string]fact{}
	add := func(kind, value string, offset int) {
		if _, known := facts[kind+" "+value]; !known && value != "" {
			facts[kind+" "+value] = fact{kind, value, offset}
		}
	}
	// What has been read is blanked, so that offsets stay and no fact counts
	// twice.
	rest := []byte(text)
	take := func(re *regexp.Regexp, each func(m []int)) {
		for _, m := range re.FindAllSubmatchIndex(rest, -1) {
			each(m)
			for i := m[0]; i < m[1]; i++ {
				if rest[i] != '\n' {
					rest[i] = ' '
				}
			}
		}
	}
	part := func(m []int, group int) string { return text[m[2*group]:m[2*group+1]] }

	take(codeBlock, func(m []int) {
		offset := m[2]
		for line := range strings.Lines(part(m, 1)) {
			add("line of code", "`"+codeLine(line)+"`", offset)
			offset += len(line)
		}
	})
	delete(facts, "line of code ``")
	take(codeSpan, func(m []int) { add("code", "`"+part(m, 1)+"`", m[0]) })
	take(webLink, func(m []int) {
		// The documentation exists in Japanese at a path of its own.
		link := strings.Replace(strings.TrimRight(part(m, 0), ".,;:"), "https://kubernetes.io/ja/", "https://kubernetes.io/", 1)
		link, _, _ = strings.Cut(link, "#")
		add("link", link, m[0])
	})
	take(anyAction, func(m []int) {
		add("param", strings.ReplaceAll(part(m, 0), " ", ""), m[0])
	})
	take(listNumber, func([]int) {}) // the numbers of a list
	take(kindWord,
		func(m []int) { add("kind", part(m, 1), m[0]) })
	for _, m := range anyNumber.FindAllIndex(rest, -1) {
		if m[0] > 0 && isWord(rest[m[0]-1]) {
			continue // part of a name, as in k8s
		}
		add("number", string(rest[m[0]:m[1]]), m[0])
	}
	return facts
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '-'
}

// codeLine is a line of code without its comment and outer space: comments are
// translated.
func codeLine(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return ""
	}
	if i := strings.Index(line, " # "); i >= 0 {
		line = strings.TrimSpace(line[:i])
	}
	return line
}

// exactValue is a name, an image or a number; a path or a command may be told
// for information.
var exactValue = regexp.MustCompile("^[A-Za-z0-9][A-Za-z0-9_.:=-]*$")

// lintPrompt reports names and numbers that the checks hold a learner to and
// the prompt does not mention, and the reverse.
func (l *linter) lintPrompt() {
	prompt := l.inst.Prompt.EN
	for i, c := range l.inst.Checks {
		for _, a := range c.asked() {
			if mentions(prompt, a.value) || mentions(l.inst.Setup, a.value) || inWords(prompt, a.value) {
				continue
			}
			l.reportAt(append([]any{"checks", i}, a.where...), "the prompt does not mention %s, which this check asks for", a.value)
		}
	}
	used := l.checksText() + "\n" + l.inst.Setup
	p := l.fileText("prompt.en.md")
	for _, m := range codeSpan.FindAllStringSubmatchIndex(p.text, -1) {
		s, err := parseSource(p.text[m[2]:m[3]])
		if err != nil {
			continue
		}
		span, err := s.render(l.inst.data)
		if err != nil || !exactValue.MatchString(span) || span == "localhost" || l.uses(used, span) {
			continue
		}
		p.report(m[0], "the prompt mentions `%s`, which no check looks at", span)
	}
}

// uses reports whether the checks hold a value, or all parts of a compound one.
func (l *linter) uses(used, span string) bool {
	if mentions(used, span) {
		return true
	}
	// A field's name may be part of a matcher's: args, usesArgs.
	if strings.IndexFunc(span, notLetter) < 0 && strings.Contains(strings.ToLower(used), strings.ToLower(span)) {
		return true
	}
	parts := strings.FieldsFunc(span, func(r rune) bool { return strings.ContainsRune(":/=.", r) })
	for _, part := range parts {
		if part != "localhost" && part != "http" && !mentions(used, part) {
			return false
		}
	}
	return len(parts) > 1
}

// mentions reports whether a text has a value as a whole word.
func mentions(text, value string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(value)
		open := i == 0 || !inName(text[i-1]) || !inName(value[0])
		closed := end == len(text) || !inName(text[end]) || !inName(value[len(value)-1]) ||
			text[end] == '.' && (end+1 == len(text) || !inName(text[end+1]))
		if open && closed {
			return true
		}
		from = i + 1
	}
}

func inName(b byte) bool {
	return isWord(b) || b >= '0' && b <= '9' || b == '.'
}

// inWords reports whether a text has a number in words, or a number of seconds
// in other units.
func inWords(text, value string) bool {
	names := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")
	var n int
	if _, err := fmt.Sscanf(value, "%d", &n); err != nil || fmt.Sprint(n) != value {
		return false
	}
	lower := strings.ToLower(text)
	words := strings.FieldsFunc(lower, notLetter)
	if n >= 0 && n < len(names) && slices.Contains(words, names[n]) {
		return true
	}
	if n == 1 && (slices.Contains(words, "once") || slices.Contains(words, "single")) || n == 2 && slices.Contains(words, "twice") {
		return true
	}
	for unit, seconds := range map[string]int{"minute": 60, "hour": 3600, "day": 86400} {
		if n == 0 || n%seconds != 0 {
			continue
		}
		count := n / seconds
		if mentions(lower, fmt.Sprintf("%d %s", count, unit)) || mentions(lower, fmt.Sprintf("%d %ss", count, unit)) ||
			count < len(names) && strings.Contains(lower, names[count]+" "+unit) {
			return true
		}
	}
	return false
}
