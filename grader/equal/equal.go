// Package equal compares values by their meaning: what Kubernetes would do with
// them, not how they are written. All functions are pure. Each returns the
// normal forms that it compared, to be shown to the learner. An error means
// that the wanted value itself is invalid; an invalid value that was found is
// merely unequal.
package equal

// Compared is the outcome of a comparison.
type Compared struct {
	// Want and Got are both values in the normal form in which they were
	// compared. An invalid Got stands as it was found.
	Want, Got string
	Equal     bool
}

func compare(want, got string) Compared { return Compared{want, got, want == got} }
