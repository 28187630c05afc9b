//go:build cgo && !(386 || arm || mips || mipsle)

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/dlpack"
)

// Each remedy in pythonTerms is a part of a message in the packages below. A message
// that changes there would otherwise reach Python with Go's names.
func TestPythonTermsMatchMessages(t *testing.T) {
	var sources strings.Builder
	for _, folder := range []string{"memory", "dlpack", "share", ".", "internal/plan"} {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			sources.Write(text)
		}
	}
	require.Zero(t, len(pythonTerms)%2)
	for i := 0; i < len(pythonTerms); i += 2 {
		if pythonTerms[i] == dlpack.ErrNulls.Error() {
			continue
		}
		assert.True(t, strings.Contains(sources.String(), pythonTerms[i]), "no message contains %q", pythonTerms[i])
	}
}
