package dictionary

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

const threads = 256

// table is struct Table of insert.cuh.
func (d *distinct) table(slots memory.Slice[uint32]) any {
	mask := uint64(0)
	if slots.Len() > 0 {
		mask = uint64(slots.Len()) - 2
	}
	return kernels.Struct(slots, mask, d.valid, uint64(d.bit), d.rows, uint64(d.column.Len()))
}

// launch enqueues a kernel of a thread for each row.
func (d *distinct) launch(m *module, name string, arguments ...any) error {
	function, err := m.kernel(d.call.Stream.Device(), name)
	if err != nil {
		return err
	}
	return function.Launch(d.call.Stream, kernels.GridFor(d.column.Len(), threads), device.Dim3{X: threads}, 0, arguments...)
}
