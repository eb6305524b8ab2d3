package equal

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Process is all that decides which program a container starts.
type Process struct {
	Entrypoint, Cmd []string // the image's
	Command, Args   []string // the container's
}

// Argv is the argument vector by the rule of Kubernetes: command replaces the
// image's entrypoint and its cmd, args replace its cmd. It does not expand
// $(NAME).
func (p Process) Argv() []string {
	switch {
	case len(p.Command) > 0:
		return slices.Concat(p.Command, p.Args)
	case len(p.Args) > 0:
		return slices.Concat(p.Entrypoint, p.Args)
	}
	return slices.Concat(p.Entrypoint, p.Cmd)
}

// Command compares two argument vectors by the process that they come to:
// /bin/sh is sh; `sh -c "sleep 60"` is `sleep 60`, for a script that is no more
// than one program with its arguments. The normal form is written as a shell
// would read it.
func Command(want, got []string) (Compared, error) {
	if len(want) == 0 || want[0] == "" {
		return Compared{}, errors.New("command: empty")
	}
	return compare(shellJoin(normalArgv(want)), shellJoin(normalArgv(got))), nil
}

// normalArgv unwraps shells until there is nothing to unwrap.
func normalArgv(argv []string) []string {
	argv = slices.Clone(argv)
	for len(argv) > 0 {
		argv[0] = program(argv[0])
		if len(argv) != 3 || argv[0] != "sh" || argv[1] != "-c" {
			break
		}
		script := strings.TrimRight(strings.TrimSpace(argv[2]), "; \t\n")
		words, ok := simpleWords(script)
		if !ok {
			argv[2] = script
			break
		}
		argv = words
	}
	return argv
}

// program strips the folders in which every image keeps its programs.
func program(name string) string {
	switch path.Dir(name) {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin":
		return path.Base(name)
	}
	return name
}

// simpleWords splits a script into the words of its only command. It says no
// where a shell would do more than start that command.
func simpleWords(script string) ([]string, bool) {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(script); i++ {
		switch c := script[i]; c {
		case ' ', '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case '\'', '"':
			end := strings.IndexByte(script[i+1:], c)
			if end < 0 {
				return nil, false
			}
			quoted := script[i+1 : i+1+end]
			if c == '"' && strings.ContainsAny(quoted, "$`\\!") {
				return nil, false
			}
			word.WriteString(quoted)
			inWord = true
			i += end + 1
		default:
			if strings.IndexByte("$`\\*?[]~#!{}()<>|&;\n\r", c) >= 0 {
				return nil, false
			}
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) > 1 && words[0] == "exec" && !strings.HasPrefix(words[1], "-") {
		words = words[1:]
	}
	if len(words) == 0 || words[0] == "" || strings.Contains(words[0], "=") || shellOnly(words[0]) {
		return nil, false
	}
	return words, true
}

// shellOnly reports words that mean something to a shell alone, or something
// else to it than the program of that name.
func shellOnly(word string) bool {
	return slices.Contains(strings.Fields(`. : alias bg break case cd command continue do done elif else esac eval
		exec exit export fg fi for function getopts hash if in jobs local read readonly return select set shift
		source then time times trap type ulimit umask unalias unset until wait while`), word)
}

// shellJoin writes an argument vector as one line for a shell.
func shellJoin(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if a != "" && !strings.ContainsAny(a, " \t\n\r'\"\\$`*?[]~#!{}()<>|&;") {
			out[i] = a
		} else {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
