package labs_test

import (
	"testing"

	"github.com/podproof/podproof/labs"
)

// BenchmarkLoad and BenchmarkLint run over the embedded catalogue; the figure
// per task says whether 36 of them are linted well within a second.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := labs.Load(labs.Embedded()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLint(b *testing.B) {
	catalog, err := labs.Load(labs.Embedded())
	if err != nil {
		b.Fatal(err)
	}
	tasks := 0
	for _, lab := range catalog.Labs {
		tasks += len(lab.Tasks)
	}
	for b.Loop() {
		labs.Lint(catalog)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*tasks), "ms/task")
}

func BenchmarkInstance(b *testing.B) {
	web := task(b, sound(b))
	for b.Loop() {
		if _, err := web.Instance("demo", 7); err != nil {
			b.Fatal(err)
		}
	}
}
