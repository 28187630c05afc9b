//go:build cgo && linux && (amd64 || arm64)

package nvtx

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compile compiles the profiler's library of the tests.
func compile(t *testing.T) string {
	compiler := "cc"
	if c := os.Getenv("CC"); c != "" {
		compiler = c
	}
	path := filepath.Join(t.TempDir(), "injection.so")
	out, err := exec.Command(compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", path, "testdata/injection.c").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// inChild runs this test in a process with a profiler's library, and returns the lines of
// its log. The library is loaded once in a process.
func inChild(t *testing.T, library, mode string) []string {
	log := filepath.Join(t.TempDir(), "log")
	command := exec.Command(os.Args[0], "-test.run=^TestMarks$", "-test.v")
	command.Env = append(os.Environ(), "NVTX_INJECTION64_PATH="+library, "GPUFRAME_NVTX_LOG="+log, "GPUFRAME_NVTX_MODE="+mode, "GPUFRAME_NVTX_CHILD=1")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(log)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestMarks marks ranges in a process that TestInjection starts.
func TestMarks(t *testing.T) {
	if os.Getenv("GPUFRAME_NVTX_CHILD") == "" {
		t.Skip("TestInjection runs this test in its own process")
	}
	outer := Start(func() string { return "outer \x00 cut" })
	inner := Start(func() string { return "größe" })
	ended := make(chan struct{})
	go func() { // another thread may end it
		inner.End()
		close(ended)
	}()
	<-ended
	outer.End()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				Start(func() string { return "many" }).End()
			}
		})
	}
	all.Wait()
}

func TestInjection(t *testing.T) {
	library := compile(t)
	lines := inChild(t, library, "")
	require.Len(t, lines, 1+4+2*400)
	assert.Equal(t, []string{"domain gpuframe", "start 1 outer ", "start 2 größe", "end 2", "end 1"}, lines[:5])
	assert.NotContains(t, strings.Join(lines, "\n"), "WRONG")
	open := make(map[string]bool)
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		if fields[0] == "start" {
			open[fields[1]] = true
		} else {
			require.True(t, open[fields[1]], line)
			delete(open, fields[1])
		}
	}
	assert.Empty(t, open)
	// Libraries that refuse, set no function, or are none.
	assert.Empty(t, inChild(t, library, "refuse"))
	assert.Equal(t, []string{""}, inChild(t, library, "nothing"))
	assert.Empty(t, inChild(t, filepath.Join(t.TempDir(), "missing.so"), ""))
	assert.Empty(t, inChild(t, "testdata/injection.c", ""))
}

func TestNothingIsMarkedWithoutAProfiler(t *testing.T) {
	if os.Getenv("NVTX_INJECTION64_PATH") != "" { // a profiler is attached to this process
		command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		command.Env = append(os.Environ(), "NVTX_INJECTION64_PATH=")
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: "+t.Name())
		return
	}
	named := false
	Start(func() string { named = true; return "x" }).End()
	assert.False(t, named)
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		Start(func() string { return "x" }).End()
	}
}
