package pipelinetest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/pipelinetest"
)

// TestOperatorsOfSpecs requires that the pipelines have each operator that package optest tests.
func TestOperatorsOfSpecs(t *testing.T) {
	pipeline := regexp.MustCompile(`\bPipeline: ("[^"]*"|\w+)`)
	specs := 0
	require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", "..", "kernels"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range pipeline.FindAllStringSubmatch(string(text), -1) {
			specs++
			name := strings.Trim(match[1], `"`)
			assert.True(t, slices.ContainsFunc(pipelinetest.Operators(), func(o pipelinetest.Operator) bool { return o.Name == name }),
				"%s: the pipelines have no operator %s", path, match[1])
		}
		return err
	}))
	require.GreaterOrEqual(t, specs, 4)
}
