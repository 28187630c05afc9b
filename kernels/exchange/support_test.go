package exchange_test

import (
	"os"
	"testing"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// machines open several devices of the host: with and without peer access, and emulated GPUs
// unless real ones are required.
func machines() map[string]func(testing.TB, int) []*device.Device {
	all := map[string]func(testing.TB, int) []*device.Device{"peers": devicetest.Hosts, "apart": devicetest.HostsApart}
	if os.Getenv(devicetest.RequireCUDA) != "1" {
		all["emulated"] = devicetest.Emulators
	}
	return all
}

// eachMachine runs f on the machines, with n devices, and on n GPUs if there are as many.
func eachMachine(t *testing.T, n int, f func(t *testing.T, managers []*memory.Manager)) {
	t.Helper()
	for name, open := range machines() {
		t.Run(name, func(t *testing.T) { f(t, managersOf(t, open(t, n), memory.Options{})) })
	}
	if gpus := devicetest.GPUs(t); len(gpus) >= n {
		t.Run("cuda", func(t *testing.T) {
			var devices []*device.Device
			for _, name := range gpus[:n] {
				devices = append(devices, devicetest.Open(t, name))
			}
			f(t, managersOf(t, devices, memory.Options{}))
		})
	}
}

func managersOf(t testing.TB, devices []*device.Device, options memory.Options) (managers []*memory.Manager) {
	t.Helper()
	for _, dev := range devices {
		managers = append(managers, devicetest.Manager(t, dev, options))
	}
	return managers
}

// shorter returns the first list in short tests, otherwise the second one.
func shorter[T any](short, full []T) []T {
	if testing.Short() {
		return short
	}
	return full
}
