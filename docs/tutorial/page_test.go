package tutorial

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/testing/page"
)

// TestPage compares the programs of README.md with those that run: go test ./docs/tutorial -run Page -update writes them.
func TestPage(t *testing.T) { page.Check(t, "README.md", "tutorial_test.go") }
