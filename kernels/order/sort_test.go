package order_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// sortCase is a table of keys, and how they are ordered.
type sortCase struct {
	arrays     []arrow.Array
	directions []ordertest.Direction
}

// newCase draws a table of keys.
func newCase(g *arraytest.Generator, n int, types ...arrow.DataType) sortCase {
	var c sortCase
	for _, of := range types {
		c.arrays = append(c.arrays, ordertest.Array(g, of, n))
		c.directions = append(c.directions, ordertest.Directions[g.IntN(len(ordertest.Directions))])
	}
	return c
}

func (c sortCase) release() {
	for _, a := range c.arrays {
		a.Release()
	}
}

func (c sortCase) rows() int { return c.arrays[0].Len() }

// keys names the columns.
func (c sortCase) keys() []order.Key {
	keys := make([]order.Key, len(c.arrays))
	for i, d := range c.directions {
		keys[i] = order.Key{Column: fmt.Sprint("c", i), Descending: d.Descending, NullsFirst: d.NullsFirst}
	}
	return keys
}

// table uploads the keys and the number of each row.
func (c sortCase) table(t require.TestingT, mgr *memory.Manager) *buffer.Buffer {
	var fields []arrow.Field
	var columns []arrow.Array
	for i, a := range c.arrays {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: a.DataType(), Nullable: true})
		columns = append(columns, a)
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(c.rows()))
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	return table
}

// want returns the sorted row numbers of the model.
func (c sortCase) want() []uint32 {
	var rows []uint32
	for _, row := range ordertest.Order(c.rows(), c.arrays, c.directions) {
		rows = append(rows, uint32(row))
	}
	return rows
}

// numbers downloads a column of uint32, and releases it.
func numbers(t require.TestingT, c *column.Column) []uint32 {
	a, err := c.Array(context.Background())
	require.NoError(t, err)
	defer a.Release()
	require.NoError(t, c.Release())
	require.Zero(t, a.NullN())
	return append([]uint32(nil), a.(*array.Uint32).Uint32Values()...)
}

// text returns a value as text. arrow-go has none for extensions of some types.
func text(a arrow.Array, row int) string {
	if extension, ok := a.(array.ExtensionArray); ok {
		return text(extension.Storage(), row)
	}
	return a.ValueStr(row)
}

// equalRows requires that row i of a table is row rows[i] of the arrays.
func (c sortCase) equalRows(t require.TestingT, table *buffer.Buffer, rows []uint32, name string) {
	record, err := table.Record(context.Background())
	require.NoError(t, err, name)
	defer record.Release()
	require.EqualValues(t, len(rows), record.NumRows(), name)
	for k, a := range c.arrays {
		for i, row := range rows {
			require.Equal(t, text(a, int(row)), text(record.Column(k), i), "%s: key %d, row %d", name, k, i)
		}
	}
}

// fewRows are the rows that one block sorts: the usual number, none, and few, which leaves the ties of
// more rows to one block.
var fewRows = []int{0, -1, 20}

// checkSort sorts the numbers of the rows and the table. In short tests the emulator gets one of fewRows for
// each.
func (c sortCase) checkSort(t require.TestingT, mgr *memory.Manager, name string) {
	numbersOf, tableOf := fewRows, fewRows
	switch {
	case mgr.Device().Kind() == device.Host:
		numbersOf, tableOf = fewRows[:1], fewRows[:1]
	case hurried(mgr.Device()):
		turn := (len(name) + c.rows()) % len(fewRows)
		numbersOf, tableOf = fewRows[turn:turn+1], fewRows[(turn+1)%len(fewRows):][:1]
	}
	table := c.table(t, mgr)
	want := c.want()
	for _, few := range numbersOf {
		rows, err := order.Indices(strategy.WithSort(context.Background(), strategy.Sort{FewRows: few}), table, c.keys())
		require.NoError(t, err, name)
		require.Equal(t, want, numbers(t, rows), "%s, few rows %d", name, few)
	}
	for _, few := range tableOf {
		sorted, err := order.Sort(strategy.WithSort(context.Background(), strategy.Sort{FewRows: few}), table, c.keys())
		require.NoError(t, err, name)
		c.equalRows(t, sorted, want, fmt.Sprintf("%s, few rows %d", name, few))
		require.NoError(t, sorted.Release())
	}
	require.NoError(t, table.Release())
}

// TestSortEveryType sorts by one key of every type.
func TestSortEveryType(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for number, of := range ordertest.Types() {
		g := arraytest.NewGenerator(uint64(number))
		for _, n := range []int{0, 1, 2, 30, 400} {
			for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
				g.Nulls, g.Sliced = nulls, g.IntN(2) == 0
				c := newCase(g, n, of)
				c.checkSort(t, mgr, fmt.Sprintf("%v, %d rows, nulls %v, %+v", of, n, nulls, c.directions))
				c.release()
			}
		}
	}
}

// TestSortMixes sorts by several keys of any types.
func TestSortMixes(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(t *rapid.T) {
		g := arraytest.NewGenerator(rapid.Uint64().Draw(t, "seed"))
		g.Sliced = rapid.Bool().Draw(t, "sliced")
		g.Nulls = arraytest.Nulls(rapid.IntRange(0, 1).Draw(t, "nulls"))
		types := rapid.SliceOfN(rapid.SampledFrom(ordertest.Types()), 1, 4).Draw(t, "types")
		c := newCase(g, rapid.IntRange(0, 300).Draw(t, "rows"), types...)
		c.checkSort(t, mgr, "mix")
		c.release()
	})
}
