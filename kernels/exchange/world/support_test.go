package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// socketPath returns a short path: that of a socket has at most 104 bytes.
func socketPath(t testing.TB) string {
	folder, err := os.MkdirTemp("", "w")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	return "unix:" + filepath.Join(folder, "s")
}

// each runs f for each rank at the same time, and returns the errors.
func each(size int, f func(rank int) error) []error {
	failures := make([]error, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() { failures[rank] = f(rank) })
	}
	all.Wait()
	return failures
}

// ranks is a World of which all ranks are in this process, each with a device.
type ranks struct {
	managers []*memory.Manager
	worlds   []*world.World
}

// standInVariable is the environment variable that is set in processes in which the ranks use a
// stand-in for NCCL: see TestWithStandIn.
const standInVariable = "GPUFRAME_WORLD_STAND_IN"

// gpusVariable is the environment variable that is set in processes in which each rank has a GPU and
// all use NCCL: see TestGPUs.
const gpusVariable = "GPUFRAME_WORLD_GPUS"

func onGPUs() bool { return os.Getenv(gpusVariable) != "" }

// transport is the transport that the ranks of these tests use.
func transport() world.Transport {
	if os.Getenv(standInVariable) != "" || onGPUs() {
		return world.NCCL
	}
	return world.Sockets
}

// gpus returns the names of the GPUs of the machine, at most the given number.
func gpus(t testing.TB, most int) (names []string) {
	infos, err := cuda.Driver{}.Devices()
	if !errors.Is(err, device.ErrNotAvailable) && !errors.Is(err, device.ErrNoDevice) {
		require.NoError(t, err)
	}
	for _, info := range infos[:min(len(infos), most)] {
		names = append(names, fmt.Sprint("cuda:", info.Ordinal))
	}
	return names
}

// devicesFor returns n devices of the host, or at most n GPUs where the ranks have GPUs.
func devicesFor(t testing.TB, n int) (devices []*device.Device) {
	if !onGPUs() {
		return devicetest.Hosts(t, n)
	}
	for _, name := range gpus(t, n) {
		devices = append(devices, devicetest.Open(t, name))
	}
	return devices
}

// withTransport sets the transport of a configuration, and the patience on hosts: processes of a busy
// machine may stand still for longer than the usual one. With GPUs, an abort of NCCL may hang.
func withTransport(c world.Config) world.Config {
	c.Transport = transport()
	if !onGPUs() {
		c.Patience = await.Limit
	}
	if os.Getenv(standInVariable) != "" {
		c = c.WithStandIn()
	}
	return c
}

func open(t testing.TB, devices []*device.Device, options memory.Options, change func(*world.Config)) (r ranks) {
	for _, dev := range devices {
		r.managers = append(r.managers, devicetest.Manager(t, dev, options))
	}
	size, address := len(devices), socketPath(t)
	r.worlds = make([]*world.World, size)
	for rank, err := range each(size, func(rank int) (err error) {
		config := world.Config{Rank: rank, Size: size, Address: address, Manager: r.managers[rank], RoundBytes: 1000, Tag: "moved"}
		config = withTransport(config)
		if change != nil {
			change(&config)
		}
		r.worlds[rank], err = world.Open(t.Context(), config)
		return err
	}) {
		require.NoError(t, err, "rank %d", rank)
	}
	t.Cleanup(func() { // as processes that end together do
		for rank, err := range each(size, func(rank int) error { return r.worlds[rank].Close() }) {
			assert.NoError(t, err, "rank %d", rank)
		}
	})
	return r
}

// openHosts opens a World of n devices of the host, or of at most n GPUs.
func openHosts(t testing.TB, size int) ranks {
	return open(t, devicesFor(t, size), memory.Options{}, nil)
}

// all runs an operation on all ranks and requires that it succeeds.
func (r ranks) all(t testing.TB, f func(ctx context.Context, w *world.World) (*buffer.Buffer, error)) []*buffer.Buffer {
	t.Helper()
	made := make([]*buffer.Buffer, len(r.worlds))
	for rank, err := range each(len(r.worlds), func(rank int) (err error) {
		made[rank], err = f(t.Context(), r.worlds[rank])
		return err
	}) {
		require.NoError(t, err, "rank %d", rank)
	}
	return made
}
