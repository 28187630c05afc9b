//go:build cgo && linux && (amd64 || arm64)

package nvrtc

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/standin"
)

// A process opens the library once. Each test therefore runs its scenario in a process of its own.

const scenarioVariable = "GPUFRAME_NVRTC_SCENARIO"

var scenarios = map[string]func(t *testing.T){
	"compiles": scenarioCompiles, "missing": scenarioMissing, "incomplete": scenarioIncomplete,
}

// TestScenario runs in the child.
func TestScenario(t *testing.T) {
	name := os.Getenv(scenarioVariable)
	if name == "" {
		t.Skip("run by the other tests, in a process with another library")
	}
	scenarios[name](t)
}

func inChild(t *testing.T, scenario, library string) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestScenario$", "-test.v")
	command.Env = append(os.Environ(), PathVariable+"="+library, scenarioVariable+"="+scenario)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestScenario")
}

func TestCompile(t *testing.T) {
	inChild(t, "compiles", standin.Compile(t, "testdata/fakenvrtc.c", "libnvrtc.so.12"))
}

func TestMissingLibrary(t *testing.T) { inChild(t, "missing", "/nonexistent/libnvrtc.so.12") }

func TestIncompleteLibrary(t *testing.T) {
	inChild(t, "incomplete", standin.Compile(t, "testdata/fakenvrtc.c", "libnvrtc.so.12", "-DINCOMPLETE"))
}

func scenarioCompiles(t *testing.T) {
	for range 2 {
		ptx, err := Compile("ok", 9, 0, []string{"--std=c++17"})
		require.NoError(t, err)
		require.Equal(t, "ok|--gpu-architecture=compute_90|--std=c++17", ptx)
	}
	_, err := Compile("bad", 8, 6, nil)
	var failure *CompileError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, CompileError{Code: 6, Text: "NVRTC_ERROR_COMPILATION", Log: "kernel.cu(1): error: expected ok"}, *failure)
	require.ErrorIs(t, err, ErrSource)
	require.EqualError(t, err, "nvrtc: NVRTC_ERROR_COMPILATION (6):\nkernel.cu(1): error: expected ok")
	_, err = Compile("ok\x00", 8, 6, nil)
	require.ErrorIs(t, err, ErrSource)
}

func scenarioMissing(t *testing.T) {
	_, err := Compile("ok", 9, 0, nil)
	require.ErrorIs(t, err, ErrNotAvailable)
	require.ErrorContains(t, err, "nvrtc: /nonexistent/libnvrtc.so.12 cannot be used")
	require.ErrorContains(t, err, "set GPUFRAME_LIBNVRTC to its path, or pass PTX")
}

func scenarioIncomplete(t *testing.T) {
	_, err := Compile("ok", 9, 0, nil)
	require.ErrorContains(t, err, "it lacks nvrtcGetErrorString")
}
