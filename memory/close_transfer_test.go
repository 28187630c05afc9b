package memory_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// pins is a device that tracks its live pinned memory. Freed memory stays mapped, so
// that the test can report a late write instead of crashing.
type pins struct {
	backend.Device
	mu    sync.Mutex
	live  map[unsafe.Pointer]uint64
	freed []unsafe.Pointer
	// allocated, if set, is called after each allocation.
	allocated func()
}

func (p *pins) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	pointer, err := p.Device.HostAlloc(bytes)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.live[pointer] = bytes
	p.mu.Unlock()
	if p.allocated != nil {
		p.allocated()
	}
	return pointer, nil
}

func (p *pins) HostFree(pointer unsafe.Pointer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, pointer)
	p.freed = append(p.freed, pointer)
	return nil
}

// holds reports whether the bytes are in live pinned memory.
func (p *pins) holds(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	for pointer, bytes := range p.live {
		if at >= uintptr(pointer) && at+uintptr(len(data)) <= uintptr(pointer)+uintptr(bytes) {
			return true
		}
	}
	return false
}

func openPins(t *testing.T) (*device.Device, *pins) {
	t.Helper()
	dev, p := launchtest.OpenWrapped(t, func(below backend.Device) *pins {
		return &pins{Device: below, live: map[unsafe.Pointer]uint64{}}
	})
	t.Cleanup(func() {
		for _, pointer := range p.freed {
			assert.NoError(t, p.Device.HostFree(pointer))
		}
	})
	return dev, p
}

// Closing the manager during a transfer makes the transfer fail, and does not free the
// staging memory that it holds until it returns.
func TestCloseDuringATransfer(t *testing.T) {
	const bytes = 1 << 20
	options := memory.Options{Staging: memory.StagingOptions{Workers: 2, ChunkBytes: 128 << 10, Chunks: 3}}
	for name, transfer := range map[string]func(t *testing.T, p *pins, whole memory.Slice[uint8], closeOnce func()) error{
		"upload, in a fill": func(t *testing.T, p *pins, whole memory.Slice[uint8], closeOnce func()) error {
			return memory.Upload(t.Context(), nil, whole, []memory.Source{
				{Bytes: bytes, Fill: func(to []byte, _ uint64) {
					closeOnce()
					assert.True(t, p.holds(to), "staging memory was freed while a source is written to it")
				}},
			})
		},
		"upload, in an allocation": func(t *testing.T, p *pins, whole memory.Slice[uint8], closeOnce func()) error {
			p.allocated = closeOnce
			return whole.Upload(t.Context(), nil, make([]byte, bytes))
		},
		"download, in an allocation": func(t *testing.T, p *pins, whole memory.Slice[uint8], closeOnce func()) error {
			p.allocated = closeOnce
			return whole.Download(t.Context(), nil, make([]byte, bytes))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dev, p := openPins(t)
			mgr, err := memory.NewManager(dev, options)
			require.NoError(t, err)
			whole, err := memory.NewSlice[uint8](mgr, bytes, memory.AllocateOptions{})
			require.NoError(t, err)
			var leak *memory.LeakError
			closeOnce := sync.OnceFunc(func() { assert.ErrorAs(t, mgr.Close(), &leak) })
			require.ErrorIs(t, transfer(t, p, whole, closeOnce), device.ErrClosed)
			assert.Empty(t, p.live, "staging memory that nothing frees")
			assert.Zero(t, mgr.StagingStats().Pinned)
			require.NoError(t, whole.Release())
		})
	}
}
