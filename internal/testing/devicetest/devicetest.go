// Package devicetest runs tests once for each kind of device that is present.
package devicetest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/memory"
)

// RequireCUDA is the environment variable that turns a missing GPU from a reason
// to skip into a failure. The bundle that runs on GPU machines sets it to 1.
const RequireCUDA = "GPUFRAME_REQUIRE_CUDA"

// RequireGPUs is the environment variable for how many GPUs there have to be. Tests
// fail if there are fewer.
const RequireGPUs = "GPUFRAME_REQUIRE_GPUS"

// GPU is the environment variable that names the device which tests open in place
// of all GPUs: "cuda:1", or "gorgonia:0" if the test binary holds that backend.
const GPU = "GPUFRAME_TEST_GPU"

const firstGPU = "cuda:0"

// mostGPUs is how many GPUs of a machine the tests run on. What there is to go wrong
// with three, two show.
const mostGPUs = 2

func standIn(name string) string {
	if other := os.Getenv(GPU); name == firstGPU && other != "" {
		return other
	}
	return name
}

// GPUs returns the names of the GPUs that tests run on: the first two of the machine,
// or "cuda:0" alone if there is none, which [Open] then reports.
func GPUs(t testing.TB) []string {
	t.Helper()
	if other := os.Getenv(GPU); other != "" {
		return []string{other}
	}
	infos, err := cuda.Driver{}.Devices()
	if !errors.Is(err, device.ErrNotAvailable) && !errors.Is(err, device.ErrNoDevice) {
		require.NoError(t, err)
	}
	if text := os.Getenv(RequireGPUs); text != "" {
		wanted, err := strconv.Atoi(text)
		require.NoError(t, err, RequireGPUs)
		require.GreaterOrEqual(t, len(infos), wanted, "GPUs, which "+RequireGPUs+" requires")
	}
	names := []string{firstGPU}
	for i := 1; i < min(len(infos), mostGPUs); i++ {
		names = append(names, fmt.Sprint("cuda:", infos[i].Ordinal))
	}
	return names
}

// Each runs f as a subtest on the host and on every GPU of [GPUs].
func Each(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	t.Helper()
	for _, name := range append([]string{"host"}, GPUs(t)...) {
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
