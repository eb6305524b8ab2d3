package equal

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity compares two amounts of a resource: 1000m is 1, 1024Mi is 1Gi.
// The normal form is the API's canonical one.
func Quantity(want, got string) (Compared, error) {
	w, err := parseQuantity(want)
	if err != nil {
		return Compared{}, fmt.Errorf("quantity %q: %w", want, err)
	}
	g, err := parseQuantity(got)
	if err != nil {
		return Compared{Want: w.String(), Got: got}, nil
	}
	if w.Cmp(g) != 0 {
		return Compared{Want: w.String(), Got: g.String()}, nil
	}
	// Equal amounts keep their own suffixes (1G and 1000M, 1Gi and 1073741824):
	// both are shown as the wanted one.
	return Compared{Want: w.String(), Got: w.String(), Equal: true}, nil
}

// parseQuantity refuses exponents that no resource has: the API's own parser
// counts them out digit by digit, which takes minutes.
func parseQuantity(text string) (resource.Quantity, error) {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, "eE"); len(text) > 64 || i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > 2 {
		return resource.Quantity{}, errors.New("not a quantity of any resource")
	}
	return resource.ParseQuantity(text)
}
