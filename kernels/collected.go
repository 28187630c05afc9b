package kernels

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/internal/streamwork"
)

// LoadCollected loads code that was made at run time, and that is dropped again when
// nothing refers to the module and its functions any more. Graphs refer to the code
// that they launch. Nobody closes the module: Close returns [ErrShared].
//
// The garbage collector finds out that a module is not referred to. A later
// LoadCollected for the device then unloads the code, if the work that was enqueued on
// the device by then is done and no stream is captured. It does not wait, except for
// drivers before CUDA 12.5: they cannot mark the work of all streams.
func LoadCollected(dev *device.Device, code string) (*Module, error) {
	dropped, err := droppedCode.Get(dev, newDropped)
	if err != nil {
		return nil, fmt.Errorf("kernels: load: %w", err)
	}
	dropped.unload(dev)
	m, err := load(dev, []byte(code), LoadOptions{})
	if err != nil {
		return nil, err
	}
	m.shared = true
	runtime.AddCleanup(m, dropped.add, m.handle)
	dropped.note()
	return m, nil
}

// droppedCode is the code that is to be unloaded.
var droppedCode perdevice.Cache[*dropped]

// dropped is the code of one device.
type dropped struct {
	mu sync.Mutex
	// loaded counts the modules since the last unloading: the collector is asked for
	// when they are many, for it does not know what they take.
	loaded int
	// collected are referred to by nothing, but work may still run them. Marked are
	// those for whose work there is an event.
	collected []backend.Module
	marked    []markedCode
}

type markedCode struct {
	event   *device.Event
	modules []backend.Module
}

// mostUncollected is how many modules are loaded before the collector is asked for.
const mostUncollected = 1024

func newDropped(*device.Device) (*dropped, error) { return new(dropped), nil }

// add is called by the collector's goroutine, which must not call the driver.
func (d *dropped) add(module backend.Module) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.collected = append(d.collected, module)
}

// note counts a module that was loaded.
func (d *dropped) note() {
	d.mu.Lock()
	d.loaded++
	many := d.loaded > mostUncollected
	if many {
		d.loaded = 0
	}
	d.mu.Unlock()
	if many {
		runtime.GC()
	}
}

// unload unloads what no work runs any more, and marks the work that may still run what
// was collected since. Failures are tried again by the next call.
func (d *dropped) unload(dev *device.Device) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mark(dev)
	kept := d.marked[:0]
	for _, m := range d.marked {
		if m.event != nil {
			if done, err := m.event.Done(); err != nil || !done {
				kept = append(kept, m)
				continue
			}
			_ = m.event.Close()
		}
		for _, module := range m.modules {
			_ = dev.Driver().ModuleUnload(module) // there is nobody to tell
		}
	}
	clear(d.marked[len(kept):])
	d.marked = kept
}

func (d *dropped) mark(dev *device.Device) {
	if len(d.collected) == 0 {
		return
	}
	event, err := streamwork.RecordAll(dev)
	if errors.Is(err, device.ErrNotSupported) {
		err = dev.Driver().Synchronize()
	}
	if err != nil {
		return // a stream is captured
	}
	d.marked = append(d.marked, markedCode{event, d.collected})
	d.collected, d.loaded = nil, 0
}
