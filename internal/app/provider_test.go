package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podproof/podproof/internal/cluster"
	"github.com/podproof/podproof/internal/cluster/kind"
)

// failing is a kind cluster that does not come up.
type failing struct {
	cluster.Provider
	err error
}

func (f failing) Ensure(context.Context, cluster.Progress) error { return f.err }

func TestWithoutANodeImageTheWayOutIsNamed(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("create: %w", kind.ErrNoNodeImage), true},
		{errors.New("no space left on device"), false},
	} {
		err := orEmbedded{failing{err: tt.err}}.Ensure(t.Context(), nil)
		if !errors.Is(err, tt.err) || strings.Contains(err.Error(), "--cluster=embedded") != tt.want {
			t.Errorf("%v is told as %v", tt.err, err)
		}
	}
}

func TestOnlyAnEmptyFolderOfClustersIsRemoved(t *testing.T) {
	for _, tt := range []struct {
		name string
		make string // below the folder
		left bool
	}{{"absent", "", false}, {"empty", ".", false}, {"another cluster's", "other", true}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clusters")
			if tt.make != "" {
				if err := os.MkdirAll(filepath.Join(dir, tt.make), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := removeEmpty(dir); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); (err == nil) != tt.left {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
