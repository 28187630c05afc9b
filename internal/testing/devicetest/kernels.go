package devicetest

import (
	"errors"
	"hash/crc32"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
)

// EachKernel is [Each] for tests that launch kernels. On machines without a GPU it also
// runs the device code on the PTX emulator: f runs as a subtest on the host, on the
// emulator ("emulated") and on every GPU of [GPUs]. If a GPU is required, the emulator
// is left out.
//
// The emulator is slow: choose sizes by [Emulated].
func EachKernel(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	t.Helper()
	t.Run("host", func(t *testing.T) { f(t, Open(t, "host")) })
	WithKernels(t, f)
}

// WithKernels is [EachKernel] without the host, for behavior that only kernels have.
func WithKernels(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	t.Helper()
	if os.Getenv(RequireCUDA) != "1" {
		t.Run("emulated", func(t *testing.T) {
			skipOutOfTurn(t)
			f(t, kerneltest.Open(t))
		})
	}
	EachGPU(t, f)
}

// EachGPU runs f as a subtest on every GPU of [GPUs], for sizes that take the emulator
// minutes.
func EachGPU(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	t.Helper()
	for _, name := range GPUs(t) {
		t.Run(name, func(t *testing.T) { f(t, Open(t, name)) })
	}
}

// Emulated reports whether the device is the PTX emulator: a device of kind CUDA that
// needs seconds for a million rows.
func Emulated(dev *device.Device) bool { return kerneltest.Emulated(dev) }

// Sizes returns the numbers of rows that a test runs with. In short tests the emulator
// gets those up to 2,000 and the largest one.
func Sizes(dev *device.Device, sizes ...int) []int {
	if !testing.Short() || !Emulated(dev) {
		return sizes
	}
	largest := slices.Max(sizes)
	return slices.DeleteFunc(sizes, func(n int) bool { return n > 2000 && n != largest })
}

// OpenKernels opens the first GPU until the end of the test, or the PTX emulator if the
// machine has no GPU and none is required.
func OpenKernels(t testing.TB) *device.Device {
	t.Helper()
	dev, err := device.Open(standIn(firstGPU))
	if errors.Is(err, device.ErrNotAvailable) && os.Getenv(RequireCUDA) != "1" {
		skipOutOfTurn(t)
		return kerneltest.Open(t)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// skipOutOfTurn skips, under the race detector, the tests on the emulator that the turn of a check
// does not choose: it chooses a quarter of them, by their names. The detector does not watch emulated
// instructions, and they take most of the time of such a run. Without a turn all tests run.
func skipOutOfTurn(t testing.TB) {
	t.Helper()
	if !race.Enabled {
		return
	}
	if turn, ok := property.CheckTurn(t); ok && !inTurn(t.Name(), uint32(turn%4)) {
		t.Skipf("%s=%d chooses other tests to run on the emulator under the race detector", property.TurnVariable, turn)
	}
}

// inTurn reports whether a test is of the quarter that a turn chooses.
func inTurn(name string, turn uint32) bool { return (crc32.ChecksumIEEE([]byte(name))+turn)%4 == 0 }
