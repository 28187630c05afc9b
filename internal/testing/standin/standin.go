// Package standin compiles stand-ins for libraries that tests open at run time.
package standin

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Compile compiles a C file to a shared library with a name, and returns its path. The library exists
// until the end of the test.
func Compile(t testing.TB, source, name string, flags ...string) string {
	t.Helper()
	compiler := "cc"
	if c := os.Getenv("CC"); c != "" {
		compiler = c
	}
	path := filepath.Join(t.TempDir(), name)
	arguments := append([]string{"-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", path, source}, flags...)
	out, err := exec.Command(compiler, arguments...).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}
