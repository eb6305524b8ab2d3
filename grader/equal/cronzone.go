package equal

import (
	"time"

	"github.com/robfig/cron/v3"
)

// horizon is two years with a leap day in them.
func horizon() (from, until time.Time) {
	return time.Date(2027, 7, 1, 0, 0, 0, 0, time.UTC), time.Date(2029, 7, 1, 0, 0, 0, 0, time.UTC)
}

// span is a stretch of time in which two zones keep their offsets from UTC.
type span struct {
	from, until      time.Time
	offsetA, offsetB int // seconds
}

// spans splits the horizon where either zone changes its clocks, and where a
// day of UTC ends.
func spans(a, b *time.Location) []span {
	var out []span
	for t, end := horizon(); t.Before(end); {
		_, offsetA := t.In(a).Zone()
		_, offsetB := t.In(b).Zone()
		next := t.Truncate(24 * time.Hour).Add(24 * time.Hour)
		for _, zone := range []*time.Location{a, b} {
			if _, change := t.In(zone).ZoneBounds(); !change.IsZero() && change.Before(next) {
				next = change
			}
		}
		out = append(out, span{t, next, offsetA, offsetB})
		t = next
	}
	return out
}

// sameOffsets reports whether two zones always show the same time: Etc/UTC and
// UTC, Japan and Asia/Tokyo.
func sameOffsets(spans []span) bool {
	for _, s := range spans {
		if s.offsetA != s.offsetB {
			return false
		}
	}
	return true
}

// localDay is what a schedule does during a span: whether it fires on the local
// date on which the span begins, and on the next.
type localDay struct {
	minute      int // of the local day, at the span's beginning
	today, next bool
}

func localDayOf(s *cron.SpecSchedule, at time.Time, offset int) localDay {
	// The offset is added by hand: local times need no other rule here.
	t := at.Add(time.Duration(offset) * time.Second)
	tomorrow := t.AddDate(0, 0, 1)
	return localDay{
		minute: t.Hour()*60 + t.Minute(),
		today:  onDay(s, t.Month(), t.Day(), t.Weekday()),
		next:   onDay(s, tomorrow.Month(), tomorrow.Day(), tomorrow.Weekday()),
	}
}

// fires reports whether the schedule does, some minutes after the span's beginning.
func (d localDay) fires(s *cron.SpecSchedule, minutes int) bool {
	day, minute := d.today, d.minute+minutes
	if minute >= 24*60 {
		day, minute = d.next, minute-24*60
	}
	return day && s.Hour&(1<<uint(minute/60)) != 0 && s.Minute&(1<<uint(minute%60)) != 0
}

// sameMoments compares two schedules minute by minute. Most days are alike, and
// are compared once.
func sameMoments(a, b *cron.SpecSchedule, spans []span) bool {
	type day struct {
		a, b    localDay
		minutes int
	}
	known := map[day]bool{}
	for _, s := range spans {
		d := day{localDayOf(a, s.from, s.offsetA), localDayOf(b, s.from, s.offsetB), int(s.until.Sub(s.from) / time.Minute)}
		if known[d] {
			continue
		}
		known[d] = true
		for m := range d.minutes {
			if d.a.fires(a, m) != d.b.fires(b, m) {
				return false
			}
		}
	}
	return true
}
