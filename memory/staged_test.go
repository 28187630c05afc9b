package memory_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/devicetest"
	"github.com/gpuframe/gpuframe/internal/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// These tests stage transfers to a device that is a GPU but for its memory, so
// that they run everywhere and its driver can be made to fail.

var errDriver = errors.New("the driver fails")

// faulty fails one call of one operation.
type faulty struct {
	backend.Device
	operation string
	left      atomic.Int64
}

func (f *faulty) fail(operation string) error {
	if operation == f.operation && f.left.Add(-1) == 0 {
		return errDriver
	}
	return nil
}

func (f *faulty) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := f.fail("HostAlloc"); err != nil {
		return nil, err
	}
	return f.Device.HostAlloc(bytes)
}

func (f *faulty) CopyToDeviceAsync(to backend.Pointer, from unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if err := f.fail("CopyToDeviceAsync"); err != nil {
		return err
	}
	return f.Device.CopyToDeviceAsync(to, from, bytes, stream)
}

func (f *faulty) CopyToHostAsync(to unsafe.Pointer, from backend.Pointer, bytes uint64, stream backend.Stream) error {
	if err := f.fail("CopyToHostAsync"); err != nil {
		return err
	}
	return f.Device.CopyToHostAsync(to, from, bytes, stream)
}

func (f *faulty) EventCreate(timing bool) (backend.Event, error) {
	if err := f.fail("EventCreate"); err != nil {
		return 0, err
	}
	return f.Device.EventCreate(timing)
}

func (f *faulty) EventRecord(event backend.Event, stream backend.Stream) error {
	if err := f.fail("EventRecord"); err != nil {
		return err
	}
	return f.Device.EventRecord(event, stream)
}

func openFaulty(t *testing.T, operation string, nth int) *device.Device {
	t.Helper()
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	f := &faulty{Device: gpu.Device, operation: operation}
	f.left.Store(int64(nth))
	gpu.Device = f
	return dev
}

func TestStagedTransfersAtTheSameTime(t *testing.T) {
	dev := openFaulty(t, "", 0)
	mgr := devicetest.Manager(t, dev, memory.Options{
		Staging: memory.StagingOptions{Workers: 4, ChunkBytes: 256 << 10, Chunks: 3},
	})
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for _, n := range []int{1, 300_000, 3<<20 + 7} {
				slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
				if !assert.NoError(t, err) {
					return
				}
				want, got := random(n), make([]byte, n)
				assert.NoError(t, slice.Upload(t.Context(), nil, want))
				assert.NoError(t, slice.Download(t.Context(), nil, got))
				assert.True(t, bytes.Equal(want, got), "%d bytes", n)
				assert.NoError(t, slice.Release())
			}
		})
	}
	group.Wait()
}

// Whatever fails, and whenever, a transfer returns the error, nothing is lost or
// waited for in vain, and the manager closes without a leak.
func TestStagedTransfersFailWhole(t *testing.T) {
	for _, operation := range []string{"HostAlloc", "CopyToDeviceAsync", "CopyToHostAsync", "EventCreate", "EventRecord"} {
		for _, nth := range []int{1, 2, 3, 5, 9} {
			t.Run(fmt.Sprintf("%s %d", operation, nth), func(t *testing.T) {
				dev := openFaulty(t, operation, nth)
				mgr, err := memory.NewManager(dev, memory.Options{
					Staging: memory.StagingOptions{Workers: 3, ChunkBytes: 256 << 10, Chunks: 4},
				})
				require.NoError(t, err)
				const n = 3 << 20
				slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
				require.NoError(t, err)
				want, got := random(n), make([]byte, n)
				var failures []error
				for range 3 {
					err := slice.Upload(t.Context(), nil, want)
					if err == nil {
						err = slice.Download(t.Context(), nil, got)
					}
					if err == nil {
						require.True(t, bytes.Equal(want, got))
						continue
					}
					require.ErrorIs(t, err, errDriver)
					failures = append(failures, err)
				}
				if operation == "EventRecord" {
					// A chunk in flight without a mark is the end of staging.
					assert.NotEmpty(t, failures)
				} else {
					assert.LessOrEqual(t, len(failures), 1, "one call has failed")
				}
				require.NoError(t, slice.Release())
				require.NoError(t, mgr.Close())
			})
		}
	}
}
