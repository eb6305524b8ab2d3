package grader

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podproof/podproof/labs"
)

// run is the time during which a Pod of a Job was active: created and not over.
type run struct{ from, until time.Time }

// runs gathers the active times of a controller's Pods: from the Pods that
// exist and, for those that are gone, from the recorder.
func (s *Snapshot) runs(owner, uid string, pods []*corev1.Pod) []run {
	var out []run
	known := map[string]bool{}
	for _, p := range pods {
		known[string(p.UID)] = true
		out = append(out, run{p.CreationTimestamp.Time, s.activeUntil(p)})
	}
	gone := map[string]*run{}
	var order []string
	for i := range s.History {
		c := &s.History[i]
		if c.Owner != owner || known[c.UID] || c.UID == uid {
			continue
		}
		r := gone[c.UID]
		if r == nil {
			r = &run{from: c.Seen, until: s.Taken}
			gone[c.UID] = r
			order = append(order, c.UID)
		}
		if c.Container == "" && ends(c.State) && c.Seen.Before(r.until) {
			r.until = c.Seen
		}
	}
	for _, id := range order {
		out = append(out, *gone[id])
	}
	return out
}

func ends(state string) bool {
	return slices.Contains([]string{"Succeeded", "Failed", "deleting", "deleted"}, state)
}

// activeUntil is when a Pod stopped counting as active.
func (s *Snapshot) activeUntil(p *corev1.Pod) time.Time {
	if p.DeletionTimestamp != nil {
		at := p.DeletionTimestamp.Time
		if p.DeletionGracePeriodSeconds != nil {
			at = at.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second)
		}
		return at
	}
	if !finished(p) {
		return s.Taken
	}
	var last time.Time
	for _, l := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range l {
			if t := l[i].State.Terminated; t != nil && t.FinishedAt.After(last) {
				last = t.FinishedAt.Time
			}
		}
	}
	if last.IsZero() {
		return p.CreationTimestamp.Time
	}
	return last
}

// peakOf is the most runs that overlapped. A run that ends in the second in
// which another begins does not overlap it: the next Pod is made after the end
// of the one before.
func peakOf(runs []run) int {
	peak := 0
	for _, r := range runs {
		n := 0
		for _, o := range runs {
			if !o.from.After(r.from) && (o.until.After(r.from) || o.from.Equal(r.from)) {
				n++
			}
		}
		peak = max(peak, n)
	}
	return peak
}

// removed returns the UID of a Job of this name that ended and was then
// removed, as its TTL does.
func (s *Snapshot) removed(name string) (uid string, found bool) {
	over, gone := map[string]bool{}, map[string]bool{}
	for i := range s.History {
		c := &s.History[i]
		if c.Object != "Job/"+name || c.Container != "" {
			continue
		}
		switch c.State {
		case "Complete", "Failed":
			over[c.UID] = true
		case "deleting", "deleted":
			gone[c.UID] = true
		}
		if over[c.UID] && gone[c.UID] {
			uid, found = c.UID, true
		}
	}
	return uid, found
}

// jobRemembered judges a Job that was removed after its end by what the
// recorder saw of it.
func jobRemembered(s *scene, m *labs.JobSpec) finding {
	name := s.check.ref.name
	uid, _ := s.removed(name)
	object := "Job/" + name
	condition, reason := "", ""
	done := map[string]bool{}
	for i := range s.History {
		c := &s.History[i]
		switch {
		case c.UID == uid && (c.State == "Complete" || c.State == "Failed"):
			condition, reason = c.State, c.Reason
		case c.Owner == object && c.Container == "" && c.State == "Succeeded":
			done[c.UID] = true
		}
	}
	unseen := fault(Msg("job.removed", "job", name)).of(object).ranked(Reported).settle()
	if m.Condition != "" && m.Condition != condition {
		return fail(Msg("job.ended", "job", name, "expected", m.Condition, "observed", condition,
			"reason", reason, "message", "")).compared(m.Condition, condition).of(object).settle().doc(docJob)
	}
	if m.Reason != "" && m.Reason != reason {
		return fail(Msg("job.reason", "job", name, "expected", m.Reason, "observed", reason)).
			compared(m.Reason, reason).of(object).settle().doc(docJob)
	}
	// The recorder may have been blind for a while: too few is no proof.
	if m.Succeeded != nil && len(done) < int(*m.Succeeded) {
		return unseen
	}
	if m.Lasts != 0 {
		return unseen
	}
	if m.PeakActive != nil && peakOf(s.runs(object, uid, nil)) < int(*m.PeakActive) {
		return unseen
	}
	return pass(Msg("job.happened", "job", name, "succeeded", itoa(len(done)))).of(object)
}
