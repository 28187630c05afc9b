//go:build cgo && linux && (amd64 || arm64)

package gpuframe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestProfilersSeeQueries runs a query in a process with a profiler's library of our own: the
// query and its operations are ranges, each in that of its caller.
func TestProfilersSeeQueries(t *testing.T) {
	const child = "GPUFRAME_NVTX_QUERY"
	if os.Getenv(child) != "" {
		e, err := gpuframe.Open(gpuframe.Device("host"))
		require.NoError(t, err)
		record := counting(t, 10)
		f, err := e.Records(record.Schema(), record).Sort(gpuframe.Col("id")).Collect(t.Context(), gpuframe.Tag("report"))
		require.NoError(t, err)
		require.NoError(t, f.Release())
		require.NoError(t, e.Close())
		return
	}
	folder := t.TempDir()
	library, log := filepath.Join(folder, "injection.so"), filepath.Join(folder, "log")
	compiler := "cc"
	if c := os.Getenv("CC"); c != "" {
		compiler = c
	}
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-pthread", "-o", library, "internal/driver/nvtx/testdata/injection.c").CombinedOutput()
	require.NoError(t, err, string(out))
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), "NVTX_INJECTION64_PATH="+library, "GPUFRAME_NVTX_LOG="+log, child+"=1")
	out, err = command.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	require.GreaterOrEqual(t, len(lines), 5, string(text))
	assert.Equal(t, []string{"domain gpuframe", "start 1 query report"}, lines[:2])
	assert.Contains(t, lines[2], "start 2 sort")
	assert.Equal(t, "end 1", lines[len(lines)-1])
	assert.Equal(t, strings.Count(string(text), "start "), strings.Count(string(text), "end "))
}
