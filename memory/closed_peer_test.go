package memory_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// closable is a device that counts the waits for all its work.
type closable struct {
	backend.Device
	synchronized int
}

func (c *closable) Synchronize() error {
	c.synchronized++
	return c.Device.Synchronize()
}

// closableDriver opens the device.
type closableDriver struct{ opened *closable }

func (d closableDriver) Devices() ([]backend.Info, error) {
	return []backend.Info{d.opened.Info()}, nil
}

func (d closableDriver) Open(int) (backend.Device, error) { return d.opened, nil }

var closables atomic.Int64

func openClosable(t *testing.T) (*device.Device, *closable) {
	t.Helper()
	below, err := host.Driver{}.Open(0)
	require.NoError(t, err)
	c := &closable{Device: below}
	name := fmt.Sprint("closable-", closables.Add(1))
	require.NoError(t, device.Register(name, closableDriver{c}))
	dev, err := device.Open(name)
	require.NoError(t, err)
	return dev, c
}

// TestUsesOnClosedDevice uses memory on a stream of another device, which is closed
// before the memory is used again and freed.
func TestUsesOnClosedDevice(t *testing.T) {
	streams := map[string]func(t *testing.T, dev *device.Device) (*device.Stream, func()){
		"default": func(_ *testing.T, dev *device.Device) (*device.Stream, func()) { return dev.DefaultStream(), func() {} },
		"open": func(t *testing.T, dev *device.Device) (*device.Stream, func()) {
			s, err := dev.NewStream()
			require.NoError(t, err)
			return s, func() {}
		},
		"closed": func(t *testing.T, dev *device.Device) (*device.Stream, func()) {
			s, err := dev.NewStream()
			require.NoError(t, err)
			return s, func() { require.NoError(t, s.Close()) }
		},
	}
	resources := map[string]func(dev *device.Device) memory.Resource{
		"caching": func(*device.Device) memory.Resource { return nil },
		"driver":  func(dev *device.Device) memory.Resource { return memory.NewDriverResource(dev) },
		"stream ordered": func(dev *device.Device) memory.Resource {
			resource, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
			require.NoError(t, err)
			return resource
		},
	}
	for streamName, stream := range streams {
		for resourceName, resource := range resources {
			t.Run(resourceName+"/"+streamName, func(t *testing.T) {
				dev := launchtest.Open(t, &launchtest.GPU{})
				mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource(dev)})
				other, below := openClosable(t)
				s, closeStream := stream(t, other)
				var blocks []*memory.Block
				for range 3 {
					block, err := mgr.Allocate(4096, memory.AllocateOptions{})
					require.NoError(t, err)
					require.NoError(t, block.RecordUse(s))
					blocks = append(blocks, block)
				}
				require.NoError(t, blocks[0].Release()) // before the other device is closed
				closeStream()
				require.NoError(t, other.Close())
				require.Equal(t, 1, below.synchronized, "closing the device ends its work on memory of others")

				require.NoError(t, blocks[1].OrderBefore(mgr.Stream()))
				require.NoError(t, blocks[2].Synchronize(t.Context()))
				idle, err := blocks[2].Idle()
				require.NoError(t, err)
				assert.True(t, idle)
				require.NoError(t, blocks[1].Release())
				require.NoError(t, blocks[2].Release())
			})
		}
	}
}
