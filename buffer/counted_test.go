package buffer_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// A column of a table has the table's row count, which is fetched once for both.
func TestColumnsCarryTheRowCount(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 40)
		for _, rows := range []int64{0, 1, 13, 40} {
			table := counted(t, mgr, whole, rows)
			want := whole.NewSlice(0, rows)
			for i := range table.NumColumns() {
				c := table.Column(i)
				assert.Same(t, table.RowCount(), c.RowCount())
				assert.Equal(t, 40, c.Len())
				_, known := c.HostRows()
				assert.False(t, known)
				_, err := c.Slice(0, 1)
				require.ErrorIs(t, err, column.ErrRowsOnDevice)
				require.ErrorIs(t, err, buffer.ErrRows)
			}
			got, err := table.Column(0).NumRows(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, rows, got)
			kept, known := table.HostRows()
			assert.True(t, known, "the table and its columns share the count")
			assert.Equal(t, rows, kept)
			for i := range table.NumColumns() {
				back, err := table.Column(i).Array(t.Context())
				require.NoError(t, err)
				require.True(t, array.Equal(want.Column(i), back), "want %v\ngot  %v", want.Column(i), back)
				back.Release()
			}
			want.Release()
		}
	})
}

// All tables that are made of a table's columns share its row count.
func TestTablesOfCountedColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 40)
		for name, make := range map[string]func(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error){
			"with the table's rows": func(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error) {
				return buffer.New(schema, []*column.Column{table.Column(0)}, table.Rows())
			},
			"with the count in device memory": func(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error) {
				return buffer.New(schema, []*column.Column{table.Column(0)}, buffer.Rows{Device: table.DeviceRows()})
			},
			"with the length of the columns": func(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error) {
				return buffer.New(schema, []*column.Column{table.Column(0)}, buffer.Rows{Count: 40})
			},
			"by selecting": func(table *buffer.Buffer, schema *arrow.Schema) (*buffer.Buffer, error) {
				return table.Select("delay")
			},
		} {
			t.Run(name, func(t *testing.T) {
				table := counted(t, mgr, whole, 13)
				made, err := make(table, arrow.NewSchema(table.Schema().Fields()[:1], nil))
				require.NoError(t, err)
				defer func() { require.NoError(t, made.Release()) }()
				assert.Same(t, table.RowCount(), made.RowCount())
				rows, err := made.NumRows(t.Context())
				require.NoError(t, err)
				assert.EqualValues(t, 13, rows)
			})
		}
	})
}

func TestTablesDoNotMixRowCounts(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 40)
		plain, one, other := upload(t, mgr, whole), counted(t, mgr, whole, 13), counted(t, mgr, whole, 14)
		schema := arrow.NewSchema([]arrow.Field{whole.Schema().Field(0), {Name: "later", Type: arrow.PrimitiveTypes.Float64}}, nil)
		for name, columns := range map[string][]*column.Column{
			"two counts":             {one.Column(0), other.Column(5)},
			"a count and the host's": {plain.Column(0), one.Column(5)},
			"the host's and a count": {one.Column(0), plain.Column(5)},
		} {
			_, err := buffer.New(schema, columns, buffer.Rows{Count: 40})
			require.ErrorIs(t, err, buffer.ErrRows, name)
			require.ErrorContains(t, err, "NumRows", name)
		}
		_, err := buffer.New(schema, []*column.Column{one.Column(0), other.Column(5)}, one.Rows())
		require.ErrorIs(t, err, buffer.ErrRows)

		field := arrow.Field{Name: "more", Type: arrow.PrimitiveTypes.Int64}
		_, err = one.AppendColumn(field, other.Column(0))
		require.ErrorIs(t, err, buffer.ErrRows)
		_, err = plain.AppendColumn(field, one.Column(0))
		require.ErrorIs(t, err, buffer.ErrRows)
		require.ErrorContains(t, err, `"more"`)
		wider, err := one.AppendColumn(field, plain.Column(0))
		require.NoError(t, err)
		assert.Same(t, one.RowCount(), wider.Column(6).RowCount(), "a column of the table's capacity gets its count")
		assert.Nil(t, plain.Column(0).RowCount(), "the column itself stays as it is")
		require.NoError(t, wider.Release())
		// Equal counts on the host are one count.
		same := counted(t, mgr, whole, 13)
		for _, table := range []*buffer.Buffer{one, same} {
			_, err = table.NumRows(t.Context())
			require.NoError(t, err)
		}
		both, err := one.AppendColumn(field, same.Column(0))
		require.NoError(t, err)
		require.NoError(t, both.Release())
	})
}
