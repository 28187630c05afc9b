//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// faultyBools is the length of the converted columns of booleans.
const faultyBools = 1003

// bitmapKernels are the kernels of package bitmap, for a simulated GPU.
func bitmapKernels() map[string]launchtest.Kernel {
	memoryOf := func(l launchtest.Launch, argument int, bytes uint64) []byte {
		return address.Bytes(uintptr(l.Uint64(argument)), bytes)
	}
	return map[string]launchtest.Kernel{
		"bitmap_expand": {Run: func(l launchtest.Launch) {
			offset, n := int(l.Uint64(2)), int(l.Uint64(3))
			bits := memoryOf(l, 1, uint64(offset+n+7)/8)
			copy(memoryOf(l, 0, uint64(n)), expanded(bits, offset, n))
		}},
		"bitmap_pack": {Run: func(l launchtest.Launch) {
			n := l.Uint64(2)
			bits := memoryOf(l, 0, (n+7)/8)
			clear(bits)
			for i, value := range memoryOf(l, 1, n) {
				if value != 0 {
					bits[i/8] |= 1 << (i % 8)
				}
			}
		}},
		"bitmap_count": {Run: func(l launchtest.Launch) {
			offset, n := int(l.Uint64(2)), int(l.Uint64(3))
			bits, sum := memoryOf(l, 1, uint64(offset+n+7)/8), memoryOf(l, 0, 8)
			count := binary.NativeEndian.Uint64(sum)
			for i := offset; i < offset+n; i++ {
				count += uint64(bits[i/8] >> (i % 8) & 1)
			}
			binary.NativeEndian.PutUint64(sum, count)
		}},
	}
}

func newBools(t testing.TB, m *memory.Manager) *column.Column {
	c := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: 13, Length: faultyBools}, nil, pattern(200))
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

// assertOnlyOwn checks that no tensor holds the column's memory.
func assertOnlyOwn(t testing.TB, c *column.Column) {
	for block := range c.Blocks {
		assert.Equal(t, 1, block.References())
		assert.False(t, block.Exported())
	}
}

// exporting exports a column and checks the contents of the tensor.
func exporting(name string, requests int, prepare func(t testing.TB, m *memory.Manager) (c *column.Column, want []byte),
	export func(ctx context.Context, c *column.Column) (*dlpack.Tensor, error),
) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "dlpack: export", Requests: requests, Kernels: bitmapKernels(),
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			c, want := prepare(t, m)
			if c == nil {
				return nil
			}
			return func(ctx context.Context) (func(testing.TB), error) {
				tensor, err := export(ctx, c)
				if err != nil {
					assert.Nil(t, tensor)
					assertOnlyOwn(t, c)
					return nil, err
				}
				return func(t testing.TB) {
					require.NoError(t, m.Device().Synchronize(t.Context()))
					assert.Equal(t, want, rawBytes(t, m.Device(), tensorOf(tensor).Data, len(want)))
					require.NoError(t, tensor.Release())
				}, nil
			}
		},
	}
}

func exports(legacy bool) []faulttest.Operation {
	ints := func(t testing.TB, m *memory.Manager) (*column.Column, []byte) {
		c := newInts(t, m, 1000)
		t.Cleanup(func() { require.NoError(t, c.Release()) })
		return c, pattern(4000)
	}
	bools := func(t testing.TB, m *memory.Manager) (*column.Column, []byte) {
		return newBools(t, m), expanded(pattern(200), 13, faultyBools)
	}
	withNulls := func(t testing.TB, m *memory.Manager) (*column.Column, []byte) {
		c := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 800, NullCount: column.UnknownNullCount}, pattern(100), pattern(3200))
		t.Cleanup(func() { require.NoError(t, c.Release()) })
		return c, pattern(100)
	}
	uncounted := func(t testing.TB, m *memory.Manager) (*column.Column, []byte) {
		if m.Device().Kind() == device.Host {
			return nil, nil // the host counts without memory for the sum
		}
		c := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 800, NullCount: column.UnknownNullCount}, bytes.Repeat([]byte{0xff}, 100), pattern(3200))
		t.Cleanup(func() { require.NoError(t, c.Release()) })
		return c, pattern(3200)
	}
	plain := func(_ context.Context, c *column.Column) (*dlpack.Tensor, error) {
		return dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
	}
	operations := []faulttest.Operation{
		exporting("Export", 0, ints, plain),
		exporting("Export with a context", 0, ints, func(ctx context.Context, c *column.Column) (*dlpack.Tensor, error) {
			return dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy, Context: ctx})
		}),
		exporting("Export without order", 0, ints, func(_ context.Context, c *column.Column) (*dlpack.Tensor, error) {
			return dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy, NoSync: true})
		}),
		exporting("Export of booleans", 1, bools, plain),
		exporting("Export of booleans with a context", 1, bools, func(ctx context.Context, c *column.Column) (*dlpack.Tensor, error) {
			return dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy, Context: ctx})
		}),
		exporting("ExportValidity", 0, withNulls, func(_ context.Context, c *column.Column) (*dlpack.Tensor, error) {
			return dlpack.ExportValidity(c, dlpack.ExportOptions{Legacy: legacy})
		}),
		exporting("Export that counts nulls", 1, uncounted, func(ctx context.Context, c *column.Column) (*dlpack.Tensor, error) {
			return dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy, Context: ctx})
		}),
	}
	operations[1].Waits, operations[4].Waits, operations[6].Waits = true, true, true
	return operations
}

// importing imports another library's tensor. After a failure its deleter has run
// once. After a success it has run early times before the column is released, and
// once after.
func importing(name string, legacy bool, requests, early int, dataType cabi.DataType, values, want []byte, length int64, alter func(p *cabitest.Producer)) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "dlpack: import: ", Requests: requests, Kernels: bitmapKernels(),
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			pointer := devicetest.Foreign(t, m.Device(), values)
			return func(ctx context.Context) (func(testing.TB), error) {
				p := newProducer(t, m.Device(), pointer, dataType, length)
				if alter != nil {
					alter(p)
				}
				c, err := importEither(m, p, legacy, dlpack.ImportOptions{Context: ctx})
				if err != nil {
					assert.Nil(t, c)
					assert.Equal(t, 1, p.Deleted(), "the tensor is consumed in every case")
					return nil, err
				}
				return func(t testing.TB) {
					require.Equal(t, early, p.Deleted())
					if len(want) > 0 {
						assert.Equal(t, want, download(t, c.Buffer(1))[:len(want)])
					}
					require.NoError(t, c.Release())
					require.Equal(t, 1, p.Deleted())
				}, nil
			}
		},
	}
}

func imports(legacy bool) []faulttest.Operation {
	packed := pattern(faultyBools/8 + 1)
	packed[len(packed)-1] &= 1<<(faultyBools%8) - 1
	operations := []faulttest.Operation{
		importing("Import", legacy, 0, 0, float32Type, pattern(4000), pattern(4000), 1000, nil),
		importing("Import of nothing", legacy, 0, 1, float32Type, nil, nil, 0, nil),
		importing("Import of booleans", legacy, 1, 1, boolean, expanded(packed, 0, faultyBools), packed, faultyBools, nil),
		importing("Import of read-only memory", legacy, 0, 0, float32Type, pattern(4000), pattern(4000), 1000, func(p *cabitest.Producer) {
			p.Versioned.Flags |= cabi.FlagReadOnly
		}),
	}
	operations[2].Waits = true
	return operations
}

// together exports, imports and releases in one operation, so that failures of the
// last releases are covered too. Release and deleter report failures if they can.
func together(name string, requests int, prepare func(t testing.TB, m *memory.Manager) *column.Column,
	do func(ctx context.Context, t testing.TB, m *memory.Manager, c *column.Column) error,
) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Requests: requests, Kernels: bitmapKernels(),
		Mends: []string{"StreamWaitEvent"}, // a deleter waits for work that it cannot order
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			c := prepare(t, m)
			return func(ctx context.Context) (func(testing.TB), error) {
				err := do(ctx, t, m, c)
				assertOnlyOwn(t, c)
				return nil, err
			}
		},
	}
}

func roundTrips(legacy bool) []faulttest.Operation {
	options := dlpack.ExportOptions{Legacy: legacy}
	ints := func(t testing.TB, m *memory.Manager) *column.Column {
		c := newInts(t, m, 1000)
		t.Cleanup(func() { require.NoError(t, c.Release()) })
		return c
	}
	take := func(m *memory.Manager, tensor unsafe.Pointer, o ...dlpack.ImportOptions) (*column.Column, error) {
		if legacy {
			return dlpack.ImportLegacy(m, tensor, o...)
		}
		return dlpack.Import(m, tensor, o...)
	}
	back := func(ctx context.Context, _ testing.TB, m *memory.Manager, c *column.Column) error {
		tensor, err := dlpack.Export(c, options)
		if err != nil {
			return err
		}
		again, err := take(m, tensor.Detach(), dlpack.ImportOptions{Context: ctx})
		return errors.Join(err, again.Release())
	}
	operations := []faulttest.Operation{
		together("there and back", 0, ints, back),
		together("there and back of booleans", 2, newBools, back),
		together("a tensor that is given up", 0, ints, func(_ context.Context, _ testing.TB, _ *memory.Manager, c *column.Column) error {
			tensor, err := dlpack.Export(c, options)
			if err != nil {
				return err
			}
			return tensor.Release()
		}),
		together("another library's tensor of ours", 0, ints, func(_ context.Context, t testing.TB, m *memory.Manager, c *column.Column) error {
			tensor, err := dlpack.Export(c) // producers of versioned tensors
			if err != nil {
				return err
			}
			p := cabitest.NewProducer(*tensorOf(tensor), []int64{1000}, []int64{1})
			defer p.Free()
			p.Of(tensor.Detach())
			again, err := importEither(m, p, legacy)
			assert.Equal(t, 1, p.Deleted(), "the block is ours, and the tensor over with")
			return errors.Join(err, again.Release())
		}),
	}
	return operations
}

func everything(legacy bool) []faulttest.Operation {
	return slices.Concat(exports(legacy), imports(legacy), roundTrips(legacy), matrices(legacy), lists(legacy))
}

// Every request for memory fails once, and from each on all do.
func TestEveryAllocationFails(t *testing.T) {
	eitherStruct(t, func(t *testing.T, legacy bool) { faulttest.EachAllocation(t, everything(legacy)...) })
}

func TestEveryDriverCallFails(t *testing.T) {
	eitherStruct(t, func(t *testing.T, legacy bool) { faulttest.EachCall(t, everything(legacy)...) })
}

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) {
	eitherStruct(t, func(t *testing.T, legacy bool) { faulttest.EachCallLost(t, everything(legacy)...) })
}

func TestTheContextEndsAtEveryDriverCall(t *testing.T) {
	eitherStruct(t, func(t *testing.T, legacy bool) { faulttest.EachCallCancelled(t, everything(legacy)...) })
}
