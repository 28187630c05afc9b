package selection_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// numbersOf makes a column of row numbers of a device's memory, as an operator would.
// With counted the number of rows is on the device, and numbers without meaning follow.
func numbersOf[N uint32 | uint64 | int64](t testing.TB, mgr *memory.Manager, rows []int, counted bool) *column.Column {
	t.Helper()
	values := make([]N, len(rows), len(rows)+9)
	for i, row := range rows {
		values[i] = N(row)
	}
	if counted {
		for range 9 {
			values = append(values, 1<<30)
		}
	}
	numbers, err := memory.NewSlice[N](mgr, len(values), memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, numbers.Upload(t.Context(), nil, values))
	var count *column.RowCount
	if counted {
		word, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, word.Upload(t.Context(), nil, []int64{int64(len(rows))}))
		count, err = column.NewRowCount(word, int64(len(values)))
		require.NoError(t, err)
		require.NoError(t, word.Release())
	}
	c, err := selection.RowNumbers(numbers, count)
	require.NoError(t, err)
	require.NoError(t, errors.Join(numbers.Release(), count.Release()))
	release(t, c)
	return c
}

// TestRowNumbers gathers columns of every type by a permutation of their rows.
func TestRowNumbers(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		options := selection.TakeOptions{Options: kernels.Options{Manager: mgr}, Bounds: selection.Trust, Distinct: true}
		for number, of := range arraytest.AllTypes() {
			g := arraytest.NewGenerator(uint64(number))
			values := g.Array(of, 50)
			defer values.Release()
			c := upload(t, mgr, values, 10, 0)
			seen := array.NewSlice(values, 10, 50)
			defer seen.Release()
			rows := g.Perm(40)
			for _, counted := range []bool{false, true} {
				for name, numbers := range map[string]*column.Column{
					"uint32": numbersOf[uint32](t, mgr, rows, counted),
					"uint64": numbersOf[uint64](t, mgr, rows[:17], counted),
					"int64":  numbersOf[int64](t, mgr, rows[:0], counted),
				} {
					t.Run(fmt.Sprint(of, name, counted), func(t *testing.T) {
						taken, err := selection.TakeColumnWith(t.Context(), c, numbers, options)
						require.NoError(t, err)
						require.Equal(t, numbers.Len(), taken.Len())
						require.Same(t, numbers.RowCount(), taken.RowCount())
						want := map[string][]int{"uint32": rows, "uint64": rows[:17], "int64": nil}[name]
						requireRows(t, download(t, taken), seen, want)
					})
				}
			}
		}
	})
}

// TestRowNumbersWithoutARow takes null rows by numbers beyond the last row, as an outer
// join does.
func TestRowNumbersWithoutARow(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(3)
		texts := g.Array(arrow.BinaryTypes.String, 20)
		defer texts.Release()
		table := tableOf(t, mgr, 20, false, upload(t, mgr, texts, 0, 0))
		numbers := numbersOf[uint32](t, mgr, []int{3, -1, 3, 19, -1}, true)
		taken, err := selection.TakeWith(t.Context(), table, numbers, selection.TakeOptions{Bounds: selection.Null})
		require.NoError(t, err)
		requireTable(t, taken, []int{3, -1, 3, 19, -1}, texts)
	})
}

// TestBrokenPromise takes a row many times under the promise that no row is. The result
// on a GPU is sound, and no kernel accesses memory outside of it.
func TestBrokenPromise(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(4)
		g.Nulls = arraytest.NoneNull
		values := g.Array(arrow.ListOf(arrow.BinaryTypes.String), 100)
		defer values.Release()
		c := upload(t, mgr, values, 0, 0)
		rows := make([]int, 3000)
		taken, err := selection.TakeColumnWith(t.Context(), c, numbersOf[uint32](t, mgr, rows, false),
			selection.TakeOptions{Bounds: selection.Trust, Distinct: true})
		if dev.Kind() == device.Host {
			require.ErrorIs(t, err, column.ErrInvalid)
			return
		}
		require.NoError(t, err)
		got := download(t, taken)
		require.Equal(t, len(rows), got.Len())
		requireRow(t, got, 0, values, 0)
	})
}

// TestRowNumbersInAGraph captures the gathering of a table with strings and lists, which
// would fail if it waited.
func TestRowNumbersInAGraph(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, resource.Close()) })
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
		g := arraytest.NewGenerator(5)
		var arrays []arrow.Array
		var columns []*column.Column
		for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.ListOf(arrow.BinaryTypes.LargeString), arrow.FixedWidthTypes.Boolean} {
			values := g.Array(of, 500)
			defer values.Release()
			arrays, columns = append(arrays, values), append(columns, upload(t, mgr, values, 0, 0))
		}
		table, rows := tableOf(t, mgr, 500, false, columns...), g.Perm(500)
		numbers := numbersOf[uint32](t, mgr, rows, true)
		take := func(stream *device.Stream) (*buffer.Buffer, error) {
			return selection.TakeWith(t.Context(), table, numbers, selection.TakeOptions{
				Options: kernels.Options{Stream: stream}, Bounds: selection.Trust, Distinct: true,
			})
		}
		warm, err := take(mgr.Stream()) // loads the kernels and fills the cache
		require.NoError(t, err)
		require.NoError(t, errors.Join(dev.Synchronize(t.Context()), warm.Release()))
		var taken *buffer.Buffer
		graph, err := kernels.Capture(dev, func(stream *device.Stream) (err error) {
			taken, err = take(stream)
			return err
		})
		require.NoError(t, err)
		require.NoError(t, errors.Join(graph.Launch(mgr.Stream()), graph.Launch(mgr.Stream())))
		requireTable(t, taken, rows, arrays...)
		require.NoError(t, graph.Close())
	})
}
