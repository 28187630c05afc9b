package kernels

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// LoadCollected loads code that was made at run time. The garbage collector drops it when
// no module, function or graph refers to it. The caller does not close the module: Close
// returns [ErrShared].
//
// A later LoadCollected on the device unloads dropped code, if the work enqueued on the
// device by then is done and no stream is captured. It does not wait, except with drivers
// before CUDA 12.5, which cannot mark the work of all streams.
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

// droppedCode is the code to unload, by device.
var droppedCode perdevice.Cache[*dropped]

// dropped is the code of one device.
type dropped struct {
	mu sync.Mutex
	// loaded counts the modules since the last unloading. When they are many, the garbage
	// collector is started, because it does not know their size.
	loaded int
	// collected modules have no references, but work may still run them. An event follows
	// the work of marked modules.
	collected []backend.Module
	marked    []markedCode
}

type markedCode struct {
	event   *device.Event
	modules []backend.Module
}

// mostUncollected is the number of loaded modules that starts the garbage collector.
const mostUncollected = 1024

func newDropped(*device.Device) (*dropped, error) { return new(dropped), nil }

// add runs on the collector's goroutine, which must not call the driver.
func (d *dropped) add(module backend.Module) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.collected = append(d.collected, module)
}

// note counts a loaded module.
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

// unload unloads modules that no work runs any more, and marks the work that may still
// run modules collected since. The next call retries failures.
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
			_ = dev.Driver().ModuleUnload(module) // no caller to report the error to
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
