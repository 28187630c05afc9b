package devicetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
)

// mostHosts is the number of devices that [Hosts] can open.
const mostHosts = 16

var registerHosts = sync.OnceValue(func() error {
	return device.Register("hosts", host.Driver{Count: mostHosts})
})

var registerApart = sync.OnceValue(func() error {
	return device.Register("hosts-apart", host.Driver{Count: mostHosts, NoPeers: true})
})

// Hosts opens n devices of the host until the end of the test, "hosts:0" and so on.
// They copy from each other's memory.
func Hosts(t testing.TB, n int) []*device.Device {
	t.Helper()
	require.NoError(t, registerHosts())
	return openAll(t, "hosts", n)
}

// HostsApart is [Hosts] for devices that cannot access each other's memory, named
// "hosts-apart:0" and so on.
func HostsApart(t testing.TB, n int) []*device.Device {
	t.Helper()
	require.NoError(t, registerApart())
	return openAll(t, "hosts-apart", n)
}

func openAll(t testing.TB, family string, n int) (devices []*device.Device) {
	t.Helper()
	for i := range n {
		devices = append(devices, Open(t, fmt.Sprint(family, ":", i)))
	}
	return devices
}

// Emulators opens n PTX emulators with separate memory until the end of the test.
func Emulators(t testing.TB, n int) (devices []*device.Device) {
	t.Helper()
	for i := range n {
		devices = append(devices, kerneltest.Open(t, kerneltest.Options{Ordinal: i}))
	}
	return devices
}
