package grader

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// events: Kubernetes has reported such an event about the subject or its Pods.
func (c *compiler) events(m *labs.Events) {
	if !c.on("events", withPods()...) {
		return
	}
	c.see(KindEvent)
	if m.Type == "" && m.Reason == "" && m.Contains == "" {
		c.problem("events: give type, reason or contains")
	}
	c.look(Reported, m.Within, func(s *scene) finding { return eventSeen(s, m) })
}

func eventSeen(s *scene, m *labs.Events) finding {
	uids := map[string]bool{string(s.obj.meta.UID): true}
	for _, p := range s.pods(s.obj) {
		uids[string(p.UID)] = true
	}
	var told []string
	for i := range s.Events {
		e := &s.Events[i]
		if !uids[string(e.InvolvedObject.UID)] {
			continue
		}
		if (m.Type == "" || e.Type == m.Type) && (m.Reason == "" || e.Reason == m.Reason) &&
			strings.Contains(e.Message, s.fill(m.Contains)) {
			return pass(Msg("events.seen", "reason", e.Reason, "object", s.obj.String())).
				at(e.InvolvedObject.FieldPath).show(eventLine(e))
		}
		told = append(told, eventLine(e))
	}
	wanted := strings.TrimSpace(strings.Join([]string{m.Type, m.Reason, s.fill(m.Contains)}, " "))
	return pending(Msg("events.missing", "object", s.obj.String(), "expected", wanted)).
		compared(wanted, unset).show(strings.Join(told, "\n")).doc(docDebugPods).began(s.obj.meta.CreationTimestamp.Time)
}

func eventLine(e *corev1.Event) string { return e.Type + " " + e.Reason + ": " + e.Message }
