package kind

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"sigs.k8s.io/kind/pkg/log"

	podproof "github.com/podproof/podproof/internal/cluster"
)

// step reports the beginning and the end of what f does.
func step(progress podproof.Progress, id, text string, f func() error) error {
	emit(progress, podproof.Event{Step: id, Text: text})
	err := f()
	emit(progress, podproof.Event{Step: id, Text: text, Done: true, Err: err})
	return err
}

func emit(progress podproof.Progress, e podproof.Event) {
	if progress != nil {
		progress(e)
	}
}

// statusStep is how one of kind's status lines begins, with an id and words of our own.
type statusStep struct{ begins, id, text string }

func statusSteps() []statusStep {
	return []statusStep{
		{"Ensuring node image", "node-image", "Getting the node image"},
		{"Preparing nodes", "node-containers", "Starting the node containers"},
		{"Configuring the external load balancer", "load-balancer", "Configuring the load balancer"},
		{"Writing configuration", "configuration", "Writing the cluster's configuration"},
		{"Starting control-plane", "control-plane", "Starting the control plane"},
		{"Installing CNI", "network", "Installing the Pod network"},
		{"Installing StorageClass", "storage", "Installing the storage class"},
		{"Joining more control-plane nodes", "join", "Joining control-plane nodes"},
		{"Joining worker nodes", "join", "Joining worker nodes"},
	}
}

// event reads one of kind's status lines; ok is false for any other line.
func event(line string) (e podproof.Event, ok bool) {
	line = strings.TrimSpace(line)
	if image, pulling := strings.CutPrefix(line, "Pulling image: "); pulling {
		image = strings.TrimSuffix(image, " ...")
		return podproof.Event{Step: "node-image", Text: "Pulling " + image + ", about 1 GB"}, true
	}
	mark, rest, found := strings.Cut(line, " ")
	if !found {
		return e, false
	}
	switch mark {
	case "•":
	case "✓":
		e.Done = true
	case "✗":
		// The reason follows as the error of the whole creation.
		e.Done, e.Err = true, fmt.Errorf("kind could not finish this step")
	default:
		return e, false
	}
	rest = strings.TrimSuffix(strings.TrimSpace(rest), "...")
	for _, s := range statusSteps() {
		if strings.HasPrefix(rest, s.begins) {
			e.Step, e.Text = s.id, s.text
			if _, image, ok := strings.Cut(rest, "("); ok && s.id == "node-image" {
				image, _, _ = strings.Cut(image, ")")
				e.Text += " " + image
			}
			return e, true
		}
	}
	e.Step, e.Text = "kind", plain(rest)
	return e, true
}

// plain drops the pictures that kind ends its lines with.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r > 0x2000 && r != '≤' {
			return -1
		}
		return r
	}, s))
}

// logger turns kind's status lines into events and all others into log
// records.
type logger struct {
	log  *slog.Logger
	emit func(podproof.Event)
}

var _ log.Logger = (*logger)(nil)

func (p *Provider) logger(progress podproof.Progress) *logger {
	return &logger{log: p.opts.Log, emit: func(e podproof.Event) { emit(progress, e) }}
}

func (l *logger) Warn(message string) {
	level := slog.LevelWarn
	if strings.HasPrefix(message, "enabling experimental") {
		level = slog.LevelDebug // said of Podman and nerdctl at each call
	}
	l.log.Log(context.Background(), level, "kind", "message", plain(message))
}

func (l *logger) Warnf(format string, a ...any)  { l.Warn(fmt.Sprintf(format, a...)) }
func (l *logger) Error(message string)           { l.log.Error("kind", "message", plain(message)) }
func (l *logger) Errorf(format string, a ...any) { l.Error(fmt.Sprintf(format, a...)) }
func (l *logger) V(level log.Level) log.InfoLogger {
	return infoLogger{logger: l, level: level}
}

type infoLogger struct {
	*logger
	level log.Level
}

// Enabled leaves out kind's traces, which hold whole configuration files with
// their bootstrap tokens.
func (l infoLogger) Enabled() bool { return l.level <= 1 }

func (l infoLogger) Infof(format string, a ...any) { l.Info(fmt.Sprintf(format, a...)) }

func (l infoLogger) Info(message string) {
	if !l.Enabled() {
		return
	}
	if e, ok := event(message); ok {
		l.emit(e)
		return
	}
	if message = plain(message); message != "" {
		l.log.Debug("kind", "message", message)
	}
}
