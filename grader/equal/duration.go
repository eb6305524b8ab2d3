package equal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration compares two time spans: 90s is 1m30s. A bare number is in seconds,
// as the API's ...Seconds fields are.
func Duration(want, got string) (Compared, error) {
	w, err := parseDuration(want)
	if err != nil {
		return Compared{}, fmt.Errorf("duration %q: %w", want, err)
	}
	g, err := parseDuration(got)
	if err != nil {
		return Compared{Want: w.String(), Got: got}, nil
	}
	return compare(w.String(), g.String()), nil
}

func parseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	return time.ParseDuration(text)
}
