package order

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// errNoDevice is the error of the functions of this file.
var errNoDevice = fmt.Errorf("there are no kernels for it yet: %w", device.ErrNotSupported)

// deviceScratch returns the sizes of the memory that sortOnDevice needs.
func (o *ordering) deviceScratch() []uint64 { return nil }

// sortOnDevice writes the row numbers to rows in the order of the plan. rows has the
// capacity; elements after the row count are not read.
func (o *ordering) sortOnDevice(rows memory.Slice[uint32], scratch []memory.Slice[uint8]) error {
	return errNoDevice
}

// ranksOnDevice writes the ranks of the rows, as uint32 or, for averages, float64. sorted
// are the rows in order.
func (o *ordering) ranksOnDevice(r ranking, sorted memory.Slice[uint32], out op.Buffers) error {
	return errNoDevice
}

// columnOnDevice sorts the values of a plan that is reversible. reversible reports whether
// it does.
func (o *ordering) columnOnDevice() (made *column.Column, reversible bool, err error) {
	return nil, false, nil
}

// unsortedOnDevice returns the first row that comes before the row ahead of it, or −1.
func (o *ordering) unsortedOnDevice() (row int64, err error) { return 0, errNoDevice }

// searchOnDevice writes, for each row from sorted on, the number of the first of the rows
// before sorted that does not come before it or, if upper is set, that comes after it.
func (o *ordering) searchOnDevice(sorted int, upper bool, out memory.Slice[uint32]) error {
	return errNoDevice
}

// boundOnDevice finds the bounds of integer sources if that shortens the words.
func (o *ordering) boundOnDevice() error { return nil }
