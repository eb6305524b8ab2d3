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
// bring. Two zones of different offsets are compared minute by minute over two
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
	if s.spec.Location.String() == other.spec.Location.String() {
		return sameClock(s.spec, other.spec)
	}
	stretches := spans(s.spec.Location, other.spec.Location)
	if sameOffsets(stretches) {
		return sameClock(s.spec, other.spec)
	}
	return sameMoments(s.spec, other.spec, stretches)
}

const (
	starBit  = 1 << 63
	valueSet = starBit - 1
)

// onDay reports whether a schedule fires on a date, by the rule of cron: where
// both the day of the month and the weekday are restricted, either will do.
func onDay(s *cron.SpecSchedule, month time.Month, day int, weekday time.Weekday) bool {
	inMonth := s.Month&(1<<uint(month)) != 0
	dom := s.Dom&(1<<uint(day)) != 0
	dow := s.Dow&(1<<uint(weekday)) != 0
	if s.Dom&starBit != 0 || s.Dow&starBit != 0 {
		return inMonth && dom && dow
	}
	return inMonth && (dom || dow)
}

// sameClock compares two schedules of one zone: they fire at the same times of
// the same days, or never. All dates are those of 14 years: leap or not, and
// beginning on each weekday.
func sameClock(a, b *cron.SpecSchedule) bool {
	ever := false
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		for _, year := range []int{2027, 2028} {
			today := weekday
			for month := time.January; month <= time.December; month++ {
				days := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
				for day := 1; day <= days; day++ {
					x, y := onDay(a, month, day, today), onDay(b, month, day, today)
					if x != y {
						return false
					}
					ever = ever || x
					today = (today + 1) % 7
				}
			}
		}
	}
	return !ever || a.Hour&valueSet == b.Hour&valueSet && a.Minute&valueSet == b.Minute&valueSet
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
