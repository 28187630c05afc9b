package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// TestTasksCallMethodsThatExist has each name before a parenthesis in the Go of docs/coming-from.md.
func TestTasksCallMethodsThatExist(t *testing.T) {
	methods, err := rootMethods(root)
	require.NoError(t, err)
	known := map[string]bool{}
	for name := range methods {
		_, method, _ := strings.Cut(name, ".")
		known[method] = true
	}
	functions := []string{"From", "Count", "On", "By", "If", "Parquet", "Float64"}
	for _, task := range catalog.Tasks() {
		for _, call := range regexp.MustCompile(`\.(\w+)\(`).FindAllStringSubmatch(task.Go, -1) {
			assert.True(t, known[call[1]] || slices.Contains(functions, call[1]), "%s of %s", call[1], task.Go)
		}
	}
}
