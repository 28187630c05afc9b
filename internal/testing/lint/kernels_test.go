package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/op/kernelset/archive"
)

var (
	kernelPattern = regexp.MustCompile(`(?ms)^\.visible \.entry (\w+)\(.*?^\}`)
	// localNames are the names of labels and of memory in a kernel. They have numbers, or
	// the kernel's name in them.
	localNames = regexp.MustCompile(`\$L\d+|_ZZ?\w+`)
)

// TestKernelsDiffer finds kernels that are instances for two types with the same machine
// code: one instance for each word width is enough.
func TestKernelsDiffer(t *testing.T) {
	kernels := make(map[string]string)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "build" && filepath.Dir(path) == filepath.Clean(root) {
			return filepath.SkipDir // bundles have a copy of the tree
		}
		if err != nil || !strings.HasSuffix(path, ".ptx.packed") {
			return err
		}
		packed, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := archive.Text(packed)
		if err != nil {
			return err
		}
		for _, kernel := range kernelPattern.FindAllStringSubmatch(text, -1) {
			name := filepath.Base(path) + ": " + kernel[1]
			body := localNames.ReplaceAllString(strings.ReplaceAll(kernel[0], kernel[1], "kernel"), "local")
			assert.Empty(t, kernels[body], "%s has the same instructions", name)
			kernels[body] = name
		}
		return nil
	}))
	require.Greater(t, len(kernels), 200, "the walk finds the kernels")
}
