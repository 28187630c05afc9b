package group

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

var errNoDevice = fmt.Errorf("grouping on a GPU: %w", device.ErrNotSupported)

func pairOnDevice(*op.Call, op.Buffers, source, source, source, memory.Slice[int64], int) error {
	return errNoDevice
}
func (g *grouping) accumulateOnDevice(*op.Call, *memory.Block, []reader) error { return errNoDevice }
func (f *finishing) onDevice(*op.Call, *grouping, op.Buffers) error            { return errNoDevice }
func (q *quantiles) onDevice(*op.Call, op.Buffers) error                       { return errNoDevice }
func offsetsOnDevice(*op.Call, op.Buffers, memory.Slice[uint8], int) error {
	return errNoDevice
}
func firstOfEachOnDevice(*op.Call, op.Buffers, *grouping, memory.Slice[uint64], memory.Slice[uint64], uint64) error {
	return errNoDevice
}
func numberRowsOnDevice(*op.Call, op.Buffers, int) error { return errNoDevice }
