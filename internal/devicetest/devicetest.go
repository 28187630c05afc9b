// Package devicetest runs tests once for each kind of device that is present.
package devicetest

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// RequireCUDA is the environment variable that turns a missing GPU from a reason
// to skip into a failure. The bundle that runs on GPU machines sets it to 1.
const RequireCUDA = "GPUFRAME_REQUIRE_CUDA"

// GPU is the environment variable that names the device which tests open in place
// of "cuda:0". It is for other backends: "gorgonia:0", where the test binary holds
// that backend.
const GPU = "GPUFRAME_TEST_GPU"

const firstGPU = "cuda:0"

func standIn(name string) string {
	if other := os.Getenv(GPU); name == firstGPU && other != "" {
		return other
	}
	return name
}

// Each runs f as a subtest on the host and, where there is one, on the first GPU.
func Each(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	t.Helper()
	for _, name := range []string{"host", standIn(firstGPU)} {
		t.Run(name, func(t *testing.T) { f(t, Open(t, name)) })
	}
}

// Open opens the device until the end of the test. It skips the test where there
// is no GPU, unless one is required.
func Open(t testing.TB, name string) *device.Device {
	t.Helper()
	dev, err := device.Open(standIn(name))
	if errors.Is(err, device.ErrNotAvailable) && os.Getenv(RequireCUDA) != "1" {
		t.Skipf("no GPU here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// Manager makes a manager until the end of the test, which fails if anything is
// still held then. On the PTX emulator each block is an allocation of its own,
// unless the options name a resource, so that the emulator knows its bounds.
func Manager(t testing.TB, dev *device.Device, options memory.Options) *memory.Manager {
	t.Helper()
	options.TrackAllocations = true
	if options.Resource == nil && Emulated(dev) {
		options.Resource = memory.NewDriverResource(dev)
	}
	mgr, err := memory.NewManager(dev, options)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, mgr.Stats().Leaks, "blocks were collected without being released")
		require.NoError(t, mgr.Close())
	})
	return mgr
}
