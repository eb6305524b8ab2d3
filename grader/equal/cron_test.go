package equal_test

import (
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/podproof/podproof/grader/equal"
)

func TestCronBySpec(t *testing.T) {
	spec := func(want, got string) (equal.Compared, error) {
		return equal.Cron(equal.Schedule{Spec: want}, equal.Schedule{Spec: got})
	}
	check(t, spec, []row{
		{"* * * * *", "*/1 * * * *", true, "* * * * *", "* * * * *"},
		{"* * * * *", "0-59 0-23 1-31 1-12 0-6", true, "* * * * *", "* * * * *"},
		{"0 * * * *", "@hourly", true, "0 * * * *", "0 * * * *"},
		{"0 0 * * *", "@daily", true, "0 0 * * *", "0 0 * * *"},
		{"@midnight", " 0  0 * *\t* ", true, "0 0 * * *", "0 0 * * *"},
		{"0 0 * * 0", "@weekly", true, "0 0 * * 0", "0 0 * * 0"},
		{"0 0 1 1 *", "@yearly", true, "0 0 1 1 *", "0 0 1 1 *"},
		{"*/15 * * * *", "0,15,30,45 * * * *", true, "0,15,30,45 * * * *", "0,15,30,45 * * * *"},
		{"30 6 * * 1-5", "30 6 ? * MON-FRI", true, "30 6 * * 1-5", "30 6 * * 1-5"},
		{"0 0 1 1,7 *", "0 0 1 JAN,jul ?", true, "0 0 1 1,7 *", "0 0 1 1,7 *"},
		{"*/45 * * * *", "0,45 * * * *", true, "0,45 * * * *", "0,45 * * * *"},
		// Either of day and weekday will do where both are restricted.
		{"0 0 * * *", "0 0 1-31 * 1", true, "0 0 * * *", "0 0 * * *"},
		{"0 0 13 * 5", "0 0 13 * *", false, "0 0 13 * 5", "0 0 13 * *"},
		// Month ends and leap years.
		{"0 0 31 * *", "0 0 31 1,3,5,7,8,10,12 *", true, "0 0 31 * *", "0 0 31 * *"},
		{"0 0 30 * *", "0 0 30 1,3-12 *", true, "0 0 30 * *", "0 0 30 * *"},
		{"0 0 29 * *", "0 0 29 1,3-12 *", false, "0 0 29 * *", "0 0 29 1,3-12 *"},
		{"0 0 28 2 *", "0 0 29 2 *", false, "0 0 28 2 *", "0 0 29 2 *"},
		{"0 0 30 2 *", "0 12 31 2 *", true, "0 0 30 2 *", "0 0 30 2 *"}, // neither ever fires
		// Close, but other times.
		{"*/45 * * * *", "0 */1 * * *", false, "0,45 * * * *", "0 * * * *"},
		{"*/5 * * * *", "5 * * * *", false, "0,5,10,15,20,25,30,35,40,45,50,55 * * * *", "5 * * * *"},
		{"0 */6 * * *", "* */6 * * *", false, "0 0,6,12,18 * * *", "* 0,6,12,18 * * *"},
		{"0 6 * * *", "6 0 * * *", false, "0 6 * * *", "6 0 * * *"},
		{"0 0 * * 0", "0 0 * * 1", false, "0 0 * * 0", "0 0 * * 1"},
		// @every has a phase of its own.
		{"*/5 * * * *", "@every 5m", false, "0,5,10,15,20,25,30,35,40,45,50,55 * * * *", "@every 5m0s"},
		{"@every 5m", "*/5 * * * *", false, "@every 5m0s", "0,5,10,15,20,25,30,35,40,45,50,55 * * * *"},
		{"@every 1h", "@every 60m", true, "@every 1h0m0s", "@every 1h0m0s"},
		{"@every 1h", "@every 61m", false, "@every 1h0m0s", "@every 1h1m0s"},
	})
	invalid(t, spec, "0 0 * * *", "", "* * * *", "* * * * * *", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * * 7",
		"@often", "@every x", "every 5 minutes", "*/0 * * * *", "TZ=UTC", "TZ=Nowhere 0 0 * * *", "5-1 * * * *")
}

func TestCronByZone(t *testing.T) {
	type s = equal.Schedule
	for _, x := range []struct {
		want, got s
		equal     bool
	}{
		{s{"0 9 * * *", ""}, s{"0 9 * * *", "UTC"}, true},
		{s{"0 9 * * *", ""}, s{"0 9 * * *", "Etc/UTC"}, true},
		{s{"0 9 * * *", "UTC"}, s{"0 9 * * *", "Etc/GMT"}, true},
		{s{"0 9 * * *", "Asia/Tokyo"}, s{"0 9 * * *", "Japan"}, true},
		{s{"0 9 * * *", "Asia/Tokyo"}, s{"0 9 * * *", "Asia/Seoul"}, true},
		{s{"0 9 * * *", "Europe/Berlin"}, s{"0 9 * * *", "Europe/Paris"}, true},
		{s{"0 9 * * *", "Asia/Tokyo"}, s{"TZ=Asia/Tokyo 0 9 * * *", ""}, true},
		{s{"0 9 * * *", "Asia/Tokyo"}, s{"CRON_TZ=Asia/Tokyo 0 9 * * *", ""}, true},
		// The same moments, although written in another zone.
		{s{"0 9 * * *", "Asia/Tokyo"}, s{"0 0 * * *", ""}, true},
		{s{"30 1 * * 1-5", "Asia/Kolkata"}, s{"0 20 * * 0-4", ""}, true},
		{s{"*/5 * * * *", ""}, s{"*/5 * * * *", "America/New_York"}, true},
		{s{"* * * * *", "Australia/Lord_Howe"}, s{"*/1 * * * *", ""}, true},
		{s{"0 * * * *", "Australia/Lord_Howe"}, s{"0 * * * *", ""}, false}, // half an hour of summer time
		{s{"0 * * * *", ""}, s{"0 * * * *", "Asia/Kolkata"}, false},        // half an hour apart
		{s{"0 9 * * *", ""}, s{"0 9 * * *", "Asia/Tokyo"}, false},
		{s{"0 0 1 * *", "Asia/Tokyo"}, s{"0 15 31 * *", ""}, false}, // not every month ends on the 31st
		// The same in winter, another hour in summer.
		{s{"0 9 * * *", "Europe/London"}, s{"0 9 * * *", ""}, false},
		{s{"0 9 * * *", "America/Phoenix"}, s{"0 9 * * *", "America/Denver"}, false},
		{s{"0 9 1 1 *", "Europe/London"}, s{"0 9 1 1 *", ""}, true},
	} {
		c, err := equal.Cron(x.want, x.got)
		if err != nil || c.Equal != x.equal {
			t.Errorf("%v with %v: %+v, %v", x.want, x.got, c, err)
		}
		if c.Equal != (c.Want == c.Got) {
			t.Errorf("%v with %v: equality and the forms shown contradict each other: %+v", x.want, x.got, c)
		}
	}
	for _, zone := range []string{"Nowhere/At_All", "Local", "../etc/passwd"} {
		if _, err := equal.Cron(s{"0 9 * * *", zone}, s{"0 9 * * *", ""}); err == nil {
			t.Errorf("wanting zone %q is no error", zone)
		}
		if c, err := equal.Cron(s{"0 9 * * *", ""}, s{"0 9 * * *", zone}); err != nil || c.Equal {
			t.Errorf("finding zone %q: %+v, %v", zone, c, err)
		}
	}
}

// fires lists what Kubernetes' parser makes of a schedule, from one moment on.
func fires(t interface{ Fatal(...any) }, s equal.Schedule, from time.Time, n int) []time.Time {
	zone := s.Zone
	if zone == "" {
		zone = "UTC"
	}
	parsed, err := cron.ParseStandard("TZ=" + zone + " " + s.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var out []time.Time
	for range n {
		from = parsed.Next(from)
		if from.IsZero() {
			break
		}
		out = append(out, from.UTC())
	}
	return out
}
