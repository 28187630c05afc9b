//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func int32s(values ...int32) arrow.Array {
	builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	builder.AppendValues(values, nil)
	return builder.NewArray()
}

func texts(values ...string) arrow.Array {
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	builder.AppendValues(values, nil)
	return builder.NewArray()
}

// foreignTable makes another library's array of a record, in one allocation outside
// all managers, and the Array that has the schema.
func foreignTable(t testing.TB, m *memory.Manager, record arrow.Record) (*producertest.Producer, *Array) {
	t.Helper()
	table := upload(t, m, record)
	a, err := Export(table)
	require.NoError(t, err)
	p := producertest.Disguise((*cabi.DeviceArray)(a.Device()))
	t.Cleanup(p.Free)
	var block *memory.Block
	for i := range table.NumColumns() {
		for each := range table.Column(i).Blocks {
			require.True(t, block == nil || block == each, "a table is uploaded into one block")
			block = each
		}
	}
	if block != nil && block.Bytes() > 0 {
		bytes := make([]byte, block.Bytes())
		require.NoError(t, m.Device().Driver().CopyToHost(unsafe.Pointer(&bytes[0]), block.Pointer(), block.Bytes()))
		relocate(p, &p.Device.Array, block, devicetest.Foreign(t, m.Device(), bytes))
	}
	p.Device.SyncEvent = 0
	require.NoError(t, table.Release())
	p.Abandon()
	return p, a
}

// relocate changes the addresses of buffers in a block to other memory. It moves the
// lengths of views' data buffers, which are not in the block, to the producer's
// memory.
func relocate(p *producertest.Producer, a *cabi.Array, block *memory.Block, to device.Pointer) {
	base := block.Pointer()
	buffers := buffersOf(a)
	for i, word := range buffers {
		switch at := device.Pointer(word); {
		case at >= base && at < base.Add(block.Bytes()):
			buffers[i] = uintptr(to.Add(uint64(at - base)))
		case at != 0 && i >= 2 && i == len(buffers)-1:
			buffers[i] = p.Words(unsafe.Slice((*uintptr)(address.Pointer(word)), i-2))
		}
	}
	for i := range a.NumChildren {
		relocate(p, childOf(a, int(i)), block, to)
	}
	if a.Dictionary != 0 {
		relocate(p, (*cabi.Array)(address.Pointer(a.Dictionary)), block, to)
	}
}

// buffersOf returns the addresses of an array's buffers. The caller may change them.
func buffersOf(a *cabi.Array) []uintptr {
	if a.Buffers == 0 || a.NumBuffers <= 0 {
		return nil
	}
	return unsafe.Slice((*uintptr)(address.Pointer(a.Buffers)), a.NumBuffers)
}

func childOf(a *cabi.Array, i int) *cabi.Array {
	return (*cabi.Array)(address.Pointer(unsafe.Slice((*uintptr)(address.Pointer(a.Children)), a.NumChildren)[i]))
}

// extentOf returns the bounds of a table's only block.
func extentOf(table *buffer.Buffer) (low, high uintptr) {
	for block := range table.Column(0).Blocks {
		low = uintptr(block.Pointer())
		high = low + uintptr(block.Bytes())
	}
	return low, high
}
