//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// A process opens the driver once. Each test here therefore runs its scenario in a
// separate process, which opens the library of testdata/fakecuda.c.

// scenarioVariable is the environment variable that names the scenario of a process.
const scenarioVariable = "GPUFRAME_CUDA_SCENARIO"

// TestScenario runs in the child.
func TestScenario(t *testing.T) {
	name := os.Getenv(scenarioVariable)
	if name == "" {
		t.Skip("run by the other tests, in a process with another driver library")
	}
	scenario, ok := scenarios[name]
	require.True(t, ok, "no scenario %q", name)
	scenario(t)
}

var scenarios = map[string]func(t *testing.T){
	"calls":         scenarioCalls,
	"refusals":      scenarioRefusals,
	"context":       scenarioContext,
	"failures":      scenarioFailures,
	"modules":       scenarioModules,
	"allocations":   scenarioAllocations,
	"lifetime":      scenarioLifetime,
	"peers":         scenarioPeers,
	"old driver":    scenarioOldDriver,
	"no pools":      scenarioNoPools,
	"virtual":       scenarioVirtual,
	"granularity":   scenarioGranularity,
	"old gpu":       scenarioOldGPU,
	"minimal":       scenarioMinimalDriver,
	"not available": scenarioNotAvailable,
}

func TestFakeCalls(t *testing.T)       { runScenario(t, "calls", fakeLibrary(t)) }
func TestFakeRefusals(t *testing.T)    { runScenario(t, "refusals", fakeLibrary(t)) }
func TestFakeContext(t *testing.T)     { runScenario(t, "context", fakeLibrary(t)) }
func TestFakeFailures(t *testing.T)    { runScenario(t, "failures", fakeLibrary(t)) }
func TestFakeModules(t *testing.T)     { runScenario(t, "modules", fakeLibrary(t)) }
func TestFakeAllocations(t *testing.T) { runScenario(t, "allocations", fakeLibrary(t)) }
func TestFakeLifetime(t *testing.T)    { runScenario(t, "lifetime", fakeLibrary(t)) }
func TestFakePeers(t *testing.T)       { runScenario(t, "peers", fakeLibrary(t)) }
func TestFakeOldDriver(t *testing.T)   { runScenario(t, "old driver", fakeLibrary(t, "-DCUDA_11_0")) }
func TestFakeNoPools(t *testing.T)     { runScenario(t, "no pools", fakeLibrary(t), "FAKE_NO_POOLS=1") }
func TestFakeVirtual(t *testing.T)     { runScenario(t, "virtual", fakeLibrary(t)) }
func TestFakeGranularity(t *testing.T) { runScenario(t, "granularity", fakeLibrary(t)) }
func TestFakeOldGPU(t *testing.T) {
	runScenario(t, "old gpu", fakeLibrary(t), "FAKE_NO_MAPS=1", "FAKE_OLD_GPU=2")
}
func TestFakeMinimal(t *testing.T) { runScenario(t, "minimal", fakeLibrary(t, "-DMINIMAL")) }

func TestFakeConformance(t *testing.T) {
	output := runChild(t, "TestConformance", fakeLibrary(t), "GPUFRAME_REQUIRE_CUDA=1")
	require.NotContains(t, output, "--- SKIP", "the stand-in has everything")
}

// TestFakeConformanceOfLess has devices without the operations that the contract makes
// optional.
func TestFakeConformanceOfLess(t *testing.T) {
	output := runChild(t, "TestConformance", fakeLibrary(t),
		"GPUFRAME_REQUIRE_CUDA=1", "FAKE_NO_MAPS=1", "FAKE_OLD_GPU=1", "FAKE_NO_POOLS=1")
	for _, name := range []string{"Shared", "SharedOutlives", "SharedReadOnly", "SharedMisuse", "VirtualMoves", "VirtualLifetime", "VirtualMisuse", "VirtualConcurrency", "Prefetch", "PoolUse"} {
		require.Contains(t, output, "--- SKIP: TestConformance/"+name)
	}
	require.Contains(t, output, "--- PASS: TestConformance/Managed")
}

// TestFakeConformanceOfPartialSharing has devices that can map memory but not share it,
// or share it but not map it for reading only.
func TestFakeConformanceOfPartialSharing(t *testing.T) {
	const cases = "TestConformance/^(VirtualMoves|Shared.*)$"
	output := runChild(t, cases, fakeLibrary(t), "GPUFRAME_REQUIRE_CUDA=1", "FAKE_NO_SHARING=1")
	require.Contains(t, output, "--- PASS: TestConformance/VirtualMoves")
	for _, name := range []string{"Shared", "SharedOutlives", "SharedReadOnly", "SharedMisuse"} {
		require.Contains(t, output, "--- SKIP: TestConformance/"+name)
	}
	output = runChild(t, cases, fakeLibrary(t), "GPUFRAME_REQUIRE_CUDA=1", "FAKE_NO_READING=1")
	require.Contains(t, output, "no mappings for reading only")
	require.NotContains(t, output, "--- SKIP")
}

func TestNotAvailable(t *testing.T) {
	text := filepath.Join(t.TempDir(), "libcuda.so.1")
	require.NoError(t, os.WriteFile(text, []byte("not a library"), 0o600))
	for _, test := range []struct {
		name, library, setting string
		want                   string
	}{
		{"no library", "/nonexistent/libcuda.so.1", "", "/nonexistent/libcuda.so.1 could not be opened"},
		{"not a library", text, "", "install the NVIDIA driver"},
		{"too old", fakeLibrary(t, "-DCUDA_10_0"), "",
			"lacks cuDevicePrimaryCtxRelease_v2: gpuframe needs driver 450 / CUDA 11.0 or newer"},
		{"no device", fakeLibrary(t), "FAKE_DEVICES=0", "cuInit: CUDA_ERROR_NO_DEVICE (100)"},
		{"no permission", fakeLibrary(t), "FAKE_FAIL=cuInit=304", "cuInit: CUDA_ERROR_OPERATING_SYSTEM (304)"},
		{"driver mismatch", fakeLibrary(t), "FAKE_FAIL=cuInit=803", "restart the machine after an update"},
		{"unknown code", fakeLibrary(t), "FAKE_FAIL=cuInit=4321", "CUresult(4321)"},
		{"count fails", fakeLibrary(t), "FAKE_FAIL=cuDeviceGetCount=999", "cuDeviceGetCount: CUDA_ERROR_UNKNOWN (999)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			runScenario(t, "not available", test.library, test.setting, "WANT="+test.want)
		})
	}
}

func runScenario(t *testing.T, name, library string, settings ...string) {
	t.Helper()
	runChild(t, "TestScenario", library, append(settings, scenarioVariable+"="+name)...)
}

// runChild runs one test of this binary in a process with library as its driver, and
// returns its output. test may have a pattern of subtests after a slash.
func runChild(t *testing.T, test, library string, settings ...string) string {
	t.Helper()
	test, cases, _ := strings.Cut(test, "/")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+test+"$/"+cases, "-test.timeout=1h")
	child.Env = append(os.Environ(), libcuda.PathVariable+"="+library,
		// With the race detector each child would wait for a second at its end.
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	child.Env = append(child.Env, settings...)
	output, err := child.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+test, "the child has run the test")
	return string(output)
}

// fakes are the libraries that fakeLibrary has compiled, by their flags.
var fakes struct {
	folder string
	built  map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if fakes.folder != "" {
		if err := os.RemoveAll(fakes.folder); err != nil && code == 0 {
			code = 1
		}
	}
	os.Exit(code)
}

// fakeLibrary compiles the stand-in for the driver, once for the same flags.
func fakeLibrary(t *testing.T, flags ...string) string {
	t.Helper()
	key := strings.Join(flags, " ")
	if library := fakes.built[key]; library != "" {
		return library
	}
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc, which compiles the stand-in for the driver, is not installed")
	}
	if fakes.folder == "" {
		fakes.folder, err = os.MkdirTemp("", "fakecuda")
		require.NoError(t, err)
		fakes.built = map[string]string{}
	}
	library := filepath.Join(fakes.folder, fmt.Sprintf("%d-libcuda.so.1", len(fakes.built)))
	flags = append(flags, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-o", library, "testdata/fakecuda.c")
	output, err := exec.CommandContext(t.Context(), compiler, flags...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	fakes.built[key] = library
	return library
}

// callsOf returns the driver calls during a function, without those that set the
// context.
func callsOf(t *testing.T, call func()) []string {
	t.Helper()
	var calls []string
	for _, line := range logOf(t, call) {
		if !strings.HasPrefix(line, "cuCtxSetCurrent") {
			calls = append(calls, line)
		}
	}
	return calls
}

// logOf returns the driver calls during a function.
func logOf(t *testing.T, call func()) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_LOG", path)
	call()
	t.Setenv("FAKE_LOG", "")
	log, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(log)), "\n")
}
