package group

import (
	"embed"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/numbers"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
)

// codes has one file for each number format, so that a program compiles only the
// formats that it uses.
//
//go:embed cuda/*.ptx
var codes embed.FS

// kernel is one of the kernels of the package.
type kernel int

const (
	histogramReal kernel = iota
	histogramWhole
	kernelCount
)

// functions are the loaded kernels of a device, by kernel, class and width. They are
// never closed: their code lives as long as the device.
type functions [kernelCount][numbers.Classes][4]atomic.Pointer[kernels.Function]

var loaded perdevice.Cache[*functions]

// name returns the name of the kernel and of its file for a number format.
func (k kernel) name(number numbers.Type) string {
	if k == histogramReal {
		return "histogram_" + number.String()
	}
	return fmt.Sprintf("histogram_whole_%d", number.Bits())
}

// function returns a kernel and loads it on first use. The cache exists because making
// the name takes longer than the rest of a launch.
func (k kernel) function(dev *device.Device, number numbers.Type) (*kernels.Function, error) {
	all, err := loaded.Get(dev, func(*device.Device) (*functions, error) { return new(functions), nil })
	if err != nil {
		return nil, err
	}
	place := &all[k][number.Class][bits.TrailingZeros(uint(number.Bytes))]
	if f := place.Load(); f != nil {
		return f, nil
	}
	name := k.name(number)
	code, err := codes.ReadFile("cuda/" + name + ".ptx")
	if err != nil {
		return nil, fmt.Errorf("no kernel %s: %w", name, err)
	}
	module, err := kernels.LoadCached(dev, code)
	if err != nil {
		return nil, err
	}
	f, err := module.Function(name)
	if err == nil {
		place.Store(f)
	}
	return f, err
}
