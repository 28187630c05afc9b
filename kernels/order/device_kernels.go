package order

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
	topCount kernel = iota
	topCollect
	topSort
	kernelCount
)

// functions are the loaded kernels of a device, by kernel, class and width. They are
// never closed: their code lives as long as the device.
type functions [kernelCount][numbers.Classes][4]atomic.Pointer[kernels.Function]

var loaded perdevice.Cache[*functions]

// names returns the name of the kernel's file and of the kernel for a number format.
// Both orders of integers are the same after the flip mask, so the kernels of signed
// and unsigned integers are one.
func (k kernel) names(number numbers.Type) (file, name string) {
	suffix := fmt.Sprint(number.Bits())
	if number.Class == numbers.Float {
		suffix = number.String()
	}
	return "top_" + suffix, fmt.Sprintf("top_%s_%s", [...]string{"count", "collect", "sort"}[k], suffix)
}

// function returns a kernel and loads it on first use. The cache exists because making
// the names takes longer than the rest of a launch.
func (k kernel) function(dev *device.Device, number numbers.Type) (*kernels.Function, error) {
	all, err := loaded.Get(dev, func(*device.Device) (*functions, error) { return new(functions), nil })
	if err != nil {
		return nil, err
	}
	place := &all[k][number.Class][bits.TrailingZeros(uint(number.Bytes))]
	if f := place.Load(); f != nil {
		return f, nil
	}
	file, name := k.names(number)
	code, err := codes.ReadFile("cuda/" + file + ".ptx")
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
