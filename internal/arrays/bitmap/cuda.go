package bitmap

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed bitmap.ptx
var code []byte

// kernels are the functions of bitmap.cu on one device.
type kernels struct {
	expand, pack backend.Function
}

var loaded perdevice.Cache[kernels]

func load(dev *device.Device) (kernels, error) {
	driver := dev.Driver()
	module, err := driver.ModuleLoad(code)
	if err != nil {
		return kernels{}, fmt.Errorf("load the kernels: %w", err)
	}
	var k kernels
	var expandErr, packErr error
	k.expand, expandErr = driver.ModuleFunction(module, "bitmap_expand")
	k.pack, packErr = driver.ModuleFunction(module, "bitmap_pack")
	if err := errors.Join(expandErr, packErr); err != nil {
		return kernels{}, errors.Join(err, driver.ModuleUnload(module))
	}
	return k, nil
}

// Each thread of expand writes 16 bytes at a time, each thread of pack reads 32.
const (
	threads          = 256
	bytesExpandedBy1 = 16
	bytesPackedBy1   = 32
	// blocksPerMultiprocessor fills the largest multiprocessors, which hold 2,048
	// threads. Further bytes are processed by further iterations of the kernel's loop.
	blocksPerMultiprocessor = 2048 / threads
)

func (w work) launchExpand(bitOffset, n uint64) error {
	k, err := loaded.Get(w.stream.Device(), load)
	if err != nil {
		return err
	}
	return w.launch(k.expand, n, bytesExpandedBy1, bitOffset, n)
}

func (w work) launchPack(n uint64) error {
	k, err := loaded.Get(w.stream.Device(), load)
	if err != nil {
		return err
	}
	return w.launch(k.pack, n, bytesPackedBy1, n)
}

// launch enqueues a kernel with the destination, the source and the given numbers as
// arguments.
func (w work) launch(function backend.Function, n, bytesEach uint64, numbers ...uint64) error {
	dev := w.stream.Device()
	most := uint64(dev.Info().Multiprocessors) * blocksPerMultiprocessor
	config := backend.LaunchConfig{
		Grid:  backend.Dim3{X: uint32(min((n-1)/(bytesEach*threads)+1, most))},
		Block: backend.Dim3{X: threads},
	}
	return whileRetained(w.to.Block(), w.from.Block(), func() error {
		slots := append([]uint64{uint64(w.to.Pointer()), uint64(w.from.Pointer())}, numbers...)
		starts := [...]uint32{0, 1, 2, 3}
		err := w.stream.Enqueue(func(handle backend.Stream) error {
			config.Stream = handle
			return dev.Driver().Launch(function, config, slots, starts[:len(slots)])
		})
		if err != nil {
			return err
		}
		return errors.Join(w.to.Block().RecordUse(w.stream), w.from.Block().RecordRead(w.stream))
	})
}

// whileRetained calls f while both blocks are retained. If another goroutine released one
// between the launch and the record of its use, the memory would be freed under the
// kernel.
func whileRetained(a, b *memory.Block, f func() error) error {
	if err := a.Retain(); err != nil {
		return err
	}
	if err := b.Retain(); err != nil {
		return errors.Join(err, a.Release())
	}
	return errors.Join(f(), b.Release(), a.Release())
}
