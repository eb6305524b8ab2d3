package labs

import (
	"encoding/json"
	"fmt"
	"time"
)

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes a duration as Go does: "1m30s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration as Go writes it. It must not be negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 20s or 1m30s", text)
	}
	if v < 0 {
		return fmt.Errorf("a duration of %s is negative", v)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes a duration as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads a duration from text.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	return d.UnmarshalText([]byte(s))
}
