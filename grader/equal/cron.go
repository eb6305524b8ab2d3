package equal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on a machine without a zone database

	"github.com/robfig/cron/v3"
)

// Schedule is when a CronJob fires: spec.schedule and spec.timeZone. An empty
// zone is UTC, in which the controller runs.
type Schedule struct{ Spec, Zone string }

// Cron compares two schedules by the moments at which they fire, read by the
// parser that Kubernetes uses. @every counts from the moment at which the
// controller first sees the CronJob, so it equals only the same @every.
//
// Within one zone the comparison is exact for all dates that a calendar can
// bring. Two zones of different offsets are compared moment by moment over two
// years that hold a leap day and each zone's clock changes.
func Cron(want, got Schedule) (Compared, error) {
	w, err := parseSchedule(want)
	if err != nil {
		return Compared{}, fmt.Errorf("schedule %q: %w", want.Spec, err)
	}
	g, err := parseSchedule(got)
	if err != nil {
		return Compared{Want: w.String(), Got: strings.TrimSpace(got.Spec + " " + got.Zone)}, nil
	}
	if w.fires(g) {
		return Compared{Want: w.String(), Got: w.String(), Equal: true}, nil
	}
	return Compared{Want: w.String(), Got: g.String()}, nil
}

// schedule is a parsed Schedule: of one of two forms.
type schedule struct {
	spec  *cron.SpecSchedule
	every time.Duration // where spec is nil
}

func parseSchedule(s Schedule) (schedule, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil || s.Zone == "Local" {
		return schedule{}, fmt.Errorf("unknown time zone %q", s.Zone)
	}
	spec := strings.TrimSpace(s.Spec)
	if !strings.Contains(spec, "TZ=") {
		spec = "TZ=" + zone.String() + " " + spec
	} else if len(strings.Fields(spec)) == 1 {
		// The parser slices past the end of a zone without a schedule.
		return schedule{}, fmt.Errorf("a time zone alone is no schedule")
	}
	parsed, err := cron.ParseStandard(spec)
	if err != nil {
		return schedule{}, err
	}
	switch p := parsed.(type) {
	case *cron.SpecSchedule:
		return schedule{spec: p}, nil
	case cron.ConstantDelaySchedule:
		return schedule{every: p.Delay}, nil
	}
	return schedule{}, fmt.Errorf("schedule of unknown form %T", parsed)
}

// fires reports whether two schedules fire at the same moments.
func (s schedule) fires(other schedule) bool {
	if s.spec == nil || other.spec == nil {
		return s.spec == nil && other.spec == nil && s.every == other.every
	}
	if sameOffsets(s.spec.Location, other.spec.Location) {
		return sameClock(s.spec, other.spec)
	}
	return sameMoments(s.spec, other.spec)
}

// horizon is two years with a leap day in them.
func horizon() (from, until time.Time) {
	return time.Date(2027, 7, 1, 0, 0, 0, 0, time.UTC), time.Date(2029, 7, 1, 0, 0, 0, 0, time.UTC)
}

// sameOffsets reports whether two zones show the same time throughout the
// horizon: Etc/UTC and UTC, Japan and Asia/Tokyo.
func sameOffsets(a, b *time.Location) bool {
	t, until := horizon()
	for t.Before(until) {
		_, x := t.In(a).Zone()
		_, y := t.In(b).Zone()
		if x != y {
			return false
		}
		next := until
		for _, zone := range []*time.Location{a, b} {
			if _, end := t.In(zone).ZoneBounds(); !end.IsZero() && end.Before(next) {
				next = end
			}
		}
		t = next
	}
	return true
}

const (
	starBit  = 1 << 63
	valueSet = starBit - 1
)

// sameClock compares two schedules of one zone: they fire at the same times of
// the same days, or never. Leap years and weekdays repeat after 28 years.
func sameClock(a, b *cron.SpecSchedule) bool {
	any := false
	day := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; day.Year() < 2029; day = day.AddDate(0, 0, 1) {
		x, y := onDay(a, day), onDay(b, day)
		if x != y {
			return false
		}
		any = any || x
	}
	return !any || a.Hour&valueSet == b.Hour&valueSet && a.Minute&valueSet == b.Minute&valueSet
}

// onDay reports whether a schedule fires on a date, by the rule of cron: where
// both the day of the month and the weekday are restricted, either will do.
func onDay(s *cron.SpecSchedule, day time.Time) bool {
	month := s.Month&(1<<uint(day.Month())) != 0
	dom := s.Dom&(1<<uint(day.Day())) != 0
	dow := s.Dow&(1<<uint(day.Weekday())) != 0
	if s.Dom&starBit != 0 || s.Dow&starBit != 0 {
		return month && dom && dow
	}
	return month && (dom || dow)
}

// sameMoments compares what two schedules fire one by one.
func sameMoments(a, b cron.Schedule) bool {
	t, until := horizon()
	for {
		x, y := a.Next(t), b.Next(t)
		if !x.Equal(y) {
			return false
		}
		if x.IsZero() || x.After(until) {
			return true
		}
		t = x
	}
}

// String writes the schedule with every field spelled out as the values that
// it stands for, and the zone where it is not UTC.
func (s schedule) String() string {
	if s.spec == nil {
		return "@every " + s.every.String()
	}
	fields := []string{
		cronField(s.spec.Minute|starBit, 0, 59),
		cronField(s.spec.Hour|starBit, 0, 23),
		cronField(s.spec.Dom, 1, 31),
		cronField(s.spec.Month|starBit, 1, 12),
		cronField(s.spec.Dow, 0, 6),
	}
	if zone := s.spec.Location.String(); zone != "UTC" {
		fields = append(fields, zone)
	}
	return strings.Join(fields, " ")
}

// cronField writes a set of values as ranges, or * where it was written so.
func cronField(bits uint64, low, high int) string {
	var parts []string
	for v := low; v <= high; v++ {
		if bits&(1<<uint(v)) == 0 {
			continue
		}
		first := v
		for v < high && bits&(1<<uint(v+1)) != 0 {
			v++
		}
		switch {
		case first == low && v == high && bits&starBit != 0:
			return "*"
		case first == v:
			parts = append(parts, strconv.Itoa(v))
		case first+1 == v:
			parts = append(parts, strconv.Itoa(first), strconv.Itoa(v))
		default:
			parts = append(parts, strconv.Itoa(first)+"-"+strconv.Itoa(v))
		}
	}
	return strings.Join(parts, ",")
}
