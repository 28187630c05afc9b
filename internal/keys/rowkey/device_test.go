package rowkey_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// planOf plans keys in memory of a manager. The ranks are arbitrary: words only copy them.
func planOf(t *testing.T, mgr *memory.Manager, arrays []arrow.Array, options rowkey.Key, bounded bool) *rowkey.Plan {
	var keys []rowkey.Key
	for _, a := range arrays {
		key := options
		c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{Unchecked: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Release()) }()
		key.Column = c
		keys = append(keys, key)
	}
	sources, err := rowkey.Sources(keys)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rowkey.Release(sources)) })
	for i := range sources {
		s := &sources[i]
		n := 0
		switch s.Storage {
		case rowkey.Ranked:
			n = s.Column.Dictionary().Len()
		case rowkey.Symbols:
			n = s.Column.Child(0).Len()
		default:
			if bounded && (s.Storage == rowkey.Signed || s.Storage == rowkey.Unsigned) {
				// Values outside of the bounds only have other bits, the same on both sides.
				s.Bounded, s.Least, s.Greatest = true, 3, 0x7f
			}
			continue
		}
		b := array.NewUint32Builder(arrowmemory.NewGoAllocator())
		for j := range n {
			b.Append(uint32(j*7%max(n, 1)) + uint32(i%2))
		}
		ranks := b.NewArray()
		b.Release()
		s.Ranks, err = column.FromArray(t.Context(), mgr, ranks, column.UploadOptions{})
		ranks.Release()
		require.NoError(t, err)
	}
	return rowkey.NewPlan(sources)
}

// checkWords compares the words of a GPU with those of the host.
func checkWords(t *testing.T, onHost, onDevice *memory.Manager, arrays []arrow.Array, key rowkey.Key, bounded bool, listed []uint32) {
	t.Helper()
	n := arrays[0].Len()
	plan := planOf(t, onHost, arrays, key, bounded)
	host, err := rowkey.NewHost(plan)
	require.NoError(t, err)
	plan = planOf(t, onDevice, arrays, key, bounded)
	call, err := op.Begin(t.Context(), kernels.Options{Manager: onDevice})
	require.NoError(t, err)
	block, scratch, err := call.Scratch(plan.DeviceScratch()...)
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	encoder, err := rowkey.NewDevice(&call, plan, scratch)
	require.NoError(t, err)
	rows, those := rowkey.DeviceRows{Rows: n}, rowkey.Rows{}
	if listed != nil {
		n = len(listed)
		list, err := memory.NewSlice[uint32](onDevice, n, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, list.Release()) }()
		require.NoError(t, list.Upload(t.Context(), nil, listed))
		rows, those = rowkey.DeviceRows{Listed: list, Rows: n}, rowkey.Rows{Listed: listed}
	}
	for number := range plan.Segments {
		s := &plan.Segments[number]
		for word := range s.Words() {
			want := make([]uint64, n)
			host.Encode(number, word, those, want)
			memoryOf, err := memory.NewSlice[uint8](onDevice, n*s.Width(), memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, encoder.Encode(number, word, rows, memoryOf))
			bytes := make([]byte, n*s.Width())
			require.NoError(t, memoryOf.Download(t.Context(), nil, bytes))
			require.NoError(t, memoryOf.Release())
			for i := range want {
				got := uint64(0)
				if s.Width() == 4 {
					got = uint64(op.Elements[uint32](bytes)[i])
				} else {
					got = op.Elements[uint64](bytes)[i]
				}
				if got != want[i] {
					t.Fatalf("word %d of segment %d of row %d is %#x, the host has %#x; %v", word, number, i, got, want[i], arrays)
				}
			}
		}
	}
}

// TestDeviceWords compares the words of all types, alone and together, with the host's.
func TestDeviceWords(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		onHost := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		onDevice := devicetest.Manager(t, dev, memory.Options{})
		var types []arrow.DataType
		for _, of := range arraytest.AllTypes() {
			if rowkey.Check(of, 0) == nil {
				types = append(types, of)
			}
		}
		for number, of := range types {
			t.Run(of.String(), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(number))
				for _, g.Nulls = range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull} {
					for variant := range 4 {
						g.Sliced = variant%2 == 1
						key := rowkey.Key{Descending: variant/2 == 1, NullsFirst: variant%2 == 1, Reversible: variant == 3}
						a, b := g.Array(of, 70), g.Array(types[(number+variant*5)%len(types)], 70)
						checkWords(t, onHost, onDevice, []arrow.Array{a}, key, false, nil)
						checkWords(t, onHost, onDevice, []arrow.Array{a, b}, key, variant%2 == 0, []uint32{5, 69, 5, 0})
						a.Release()
						b.Release()
					}
				}
			})
		}
	})
}

// TestManyPieces packs more pieces into a word than a kernel takes.
func TestManyPieces(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		onHost := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		onDevice := devicetest.Manager(t, dev, memory.Options{})
		for _, columns := range []int{7, 12, 40} {
			t.Run(fmt.Sprint(columns), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(columns))
				var arrays []arrow.Array
				for range columns {
					a := g.Array(arrow.FixedWidthTypes.Boolean, 100)
					defer a.Release()
					arrays = append(arrays, a)
				}
				text := g.Array(arrow.BinaryTypes.String, 100)
				defer text.Release()
				checkWords(t, onHost, onDevice, append(arrays, text), rowkey.Key{}, false, nil)
			})
		}
	})
}
