package memory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// childVariable is set in a process that uses the stand-in driver.
const childVariable = "GPUFRAME_MEMORY_TEST_CHILD"

// withStandIn runs a test in a separate process that uses device/cuda's stand-in
// driver, which has two GPUs, on machines with and without real GPUs.
func withStandIn(t *testing.T, name string, settings ...string) {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	source := filepath.Join("..", "device", "cuda", "testdata", "fakecuda.c")
	if _, missing := os.Stat(source); err != nil || missing != nil {
		t.Skip("gcc or the stand-in for the driver is not here")
	}
	library := filepath.Join(t.TempDir(), "libcuda.so.1")
	output, err := exec.CommandContext(t.Context(), compiler, "-O0", "-shared", "-fPIC", "-pthread", "-o", library, source).CombinedOutput()
	require.NoError(t, err, "%s", output)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+name+"$", "-test.timeout=1h")
	child.Env = append(os.Environ(), append(settings, "GPUFRAME_LIBCUDA="+library, "FAKE_CRASH=1", childVariable+"=1",
		// The stand-in keeps handles that are destroyed, to report their use.
		"ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0")...)
	output, err = child.CombinedOutput()
	if strings.Contains(string(output), "backend not available") {
		t.Skip("this build has no CUDA")
	}
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+name, "the child has run the test")
}

func TestCopyBetweenDevicesOnTheStandIn(t *testing.T) { withStandIn(t, "TestCopyBetweenDevices") }

// A copy from another GPU is direct and comes after the work on both ends. On a
// machine with two GPUs the test runs on them.
func TestCopyBetweenDevices(t *testing.T) {
	first, err := device.Open("cuda:0")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, first.Close()) })
	second, err := device.Open("cuda:1")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, second.Close()) })
	const n = 1 << 20
	from := devicetest.Manager(t, first, memory.Options{Budget: 64 << 20})
	to := devicetest.Manager(t, second, memory.Options{Budget: 64 << 20})
	side, err := first.NewStream()
	require.NoError(t, err)
	source, err := memory.NewSlice[uint32](from, n, memory.AllocateOptions{})
	require.NoError(t, err)
	target, err := memory.NewSlice[uint32](to, n, memory.AllocateOptions{})
	require.NoError(t, err)

	path := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_LOG", path)
	for round := range uint32(10) {
		require.NoError(t, target.Fill(nil, 99))
		require.NoError(t, source.Fill(side, round)) // the order of either end's own stream does not suffice
		require.NoError(t, target.CopyFrom(nil, source))
		require.NoError(t, source.Fill(nil, 98)) // this fill comes after the copy
		got := make([]uint32, n)
		require.NoError(t, target.Download(t.Context(), nil, got))
		require.Equal(t, round, got[0])
		require.Equal(t, round, got[n-1])
	}
	t.Setenv("FAKE_LOG", "")
	if os.Getenv(childVariable) != "" {
		log, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, call := range []string{"cuCtxEnablePeerAccess(0, 0)", "cuMemcpyPeerAsync(1, 0, 4194304"} {
			require.True(t, strings.Contains(string(log), call), "no %s", call)
		}
	}
	require.NoError(t, source.Release())
	require.NoError(t, target.Release())
	require.NoError(t, side.Close())
}

func TestAutomaticSegmentsFallBack(t *testing.T) {
	withStandIn(t, "TestAutomaticSegments", "FAKE_FAIL=cuMemAddressReserve=2")
}

// A driver that can map memory but has no addresses left is still used.
func TestAutomaticSegments(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("run by TestAutomaticSegmentsFallBack, on the stand-in for the driver")
	}
	dev, err := device.Open("cuda:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
	require.NoError(t, err)
	require.False(t, resource.Expandable())
	require.NoError(t, resource.Close())
	_, err = memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.ExpandableSegments})
	require.ErrorIs(t, err, device.ErrOutOfMemory)
}

func TestForeignCapturesSurviveOnTheStandIn(t *testing.T) {
	withStandIn(t, "TestForeignCapturesSurvive")
}

// A stream capture of another library survives a deleter and the driver calls that
// gpuframe makes meanwhile.
func TestForeignCapturesSurvive(t *testing.T) {
	dev, err := device.Open("cuda:0")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	m := devicetest.Manager(t, dev, memory.Options{Budget: 64 << 20})
	handle, err := dev.Driver().StreamCreate()
	require.NoError(t, err)
	theirs := dev.WrapStream(handle)
	s, err := memory.NewSlice[uint32](m, 1000, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Fill(nil, 1))
	require.NoError(t, s.Block().BeginExport())
	require.NoError(t, s.Order(theirs))
	require.NoError(t, s.Release())

	captured, err := dev.Driver().StreamCreate()
	require.NoError(t, err)
	require.NoError(t, dev.Driver().StreamBeginCapture(captured))
	require.NoError(t, s.Block().RecordForeignUse())
	require.NoError(t, s.Block().EndExport())
	_, err = m.Stream().Done()
	require.NoError(t, err)
	require.NoError(t, m.Stream().Synchronize(t.Context()))
	graph, err := dev.Driver().StreamEndCapture(captured)
	require.NoError(t, err, "the capture was lost")
	require.NoError(t, dev.Driver().GraphDestroy(graph))

	require.NoError(t, dev.Driver().StreamDestroy(handle))
	require.NoError(t, dev.Driver().StreamDestroy(captured))
	again, err := memory.NewSlice[uint32](m, 1000, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, again.Release())
}
