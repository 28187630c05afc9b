// Package devicetest runs tests on each kind of device that is present.
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
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
)

// RequireCUDA is the environment variable that makes tests fail without a GPU instead
// of skipping. The bundle for GPU machines sets it to 1.
const RequireCUDA = "GPUFRAME_REQUIRE_CUDA"

// RequireGPUs is the environment variable for the required number of GPUs. Tests fail
// if the machine has fewer.
const RequireGPUs = "GPUFRAME_REQUIRE_GPUS"

// GPU is the environment variable that names the device which tests open instead of all
// GPUs: "cuda:1", or "gorgonia:0" if the test binary contains that backend.
const GPU = "GPUFRAME_TEST_GPU"

const firstGPU = "cuda:0"

// mostGPUs is the number of GPUs of a machine that tests use, unless more are required. Two GPUs show
// every error that three would show.
const mostGPUs = 2

func standIn(name string) string {
	if other := os.Getenv(GPU); name == firstGPU && other != "" {
		return other
	}
	return name
}

// GPUs returns the names of the GPUs for tests: the first two of the machine, or as many as are required, or
// "cuda:0" if the machine has no GPU; [Open] reports that.
func GPUs(t testing.TB) []string {
	t.Helper()
	if other := os.Getenv(GPU); other != "" {
		return []string{other}
	}
	infos, err := cuda.Driver{}.Devices()
	if !errors.Is(err, device.ErrNotAvailable) && !errors.Is(err, device.ErrNoDevice) {
		require.NoError(t, err)
	}
	most := mostGPUs
	if text := os.Getenv(RequireGPUs); text != "" {
		wanted, err := strconv.Atoi(text)
		require.NoError(t, err, RequireGPUs)
		require.GreaterOrEqual(t, len(infos), wanted, "GPUs, which "+RequireGPUs+" requires")
		most = max(most, wanted)
	}
	names := []string{firstGPU}
	for i := 1; i < min(len(infos), most); i++ {
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

// Open opens the device until the end of the test. Without a GPU it skips the test,
// unless one is required.
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

// Manager is [kerneltest.Manager], for every device.
func Manager(t testing.TB, dev *device.Device, options memory.Options) *memory.Manager {
	t.Helper()
	return kerneltest.Manager(t, dev, options)
}
