package recipes

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/testing/page"
)

// TestPage compares the programs of recipes.md with those that run: go test ./docs/recipes -run Page -update writes them.
func TestPage(t *testing.T) { page.Check(t, "../recipes.md", "*_test.go") }
