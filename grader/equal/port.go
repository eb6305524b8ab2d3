package equal

import (
	"fmt"
	"strconv"
	"strings"
)

// Port compares two ports, each a number or a name with an optional protocol:
// "80", "80/TCP", "http". The protocol is TCP unless given. Names maps the
// names of a Pod's container ports to what they stand for, "8080" or "53/UDP";
// a name that it lacks stands for itself.
func Port(want, got string, names map[string]string) (Compared, error) {
	w, err := parsePort(want, names)
	if err != nil {
		return Compared{}, fmt.Errorf("port %q: %w", want, err)
	}
	g, err := parsePort(got, names)
	if err != nil {
		return Compared{Want: w, Got: got}, nil
	}
	return compare(w, g), nil
}

func parsePort(text string, names map[string]string) (string, error) {
	port, protocol, _ := strings.Cut(strings.TrimSpace(text), "/")
	if known, ok := names[port]; ok {
		number, p, _ := strings.Cut(known, "/")
		port = number
		if protocol == "" {
			protocol = p
		}
	}
	if protocol == "" {
		protocol = "TCP"
	}
	protocol = strings.ToUpper(protocol)
	switch protocol {
	case "TCP", "UDP", "SCTP":
	default:
		return "", fmt.Errorf("unknown protocol %q", protocol)
	}
	if n, err := strconv.ParseUint(port, 10, 64); err == nil {
		if n < 1 || n > 65535 {
			return "", fmt.Errorf("%d is no port", n)
		}
		port = strconv.FormatUint(n, 10)
	} else if !portName(port) {
		return "", fmt.Errorf("%q is neither a number nor a port's name", port)
	}
	return port + "/" + protocol, nil
}

// portName reports whether text can name a port: an IANA service name.
func portName(text string) bool {
	letter := false
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			letter = true
		case r >= '0' && r <= '9', r == '-':
		default:
			return false
		}
	}
	return letter && len(text) <= 15
}
