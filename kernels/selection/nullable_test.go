package selection_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// requireHonest checks that no column has nulls that its field does not allow, and that
// no child has such nulls except under nulls of the parent.
func requireHonest(t *testing.T, field arrow.Field, c *column.Column) {
	t.Helper()
	require.True(t, arrow.TypeEqual(field.Type, c.Type()), "%v is not %v", field.Type, c.Type())
	if !field.Nullable {
		require.Zero(t, c.NullCount(), "%v", field)
	}
	switch of := c.Type().(type) {
	case arrow.UnionType:
		for i, inner := range of.Fields() {
			requireHonest(t, inner, c.Child(i))
		}
	case *arrow.StructType:
		for i, inner := range of.Fields() {
			requireHonest(t, inner, c.Child(i))
		}
	case *arrow.RunEndEncodedType:
		requireHonest(t, arrow.Field{Type: of.Encoded(), Nullable: of.ValueNullable}, c.Child(1))
	case *arrow.FixedSizeListType:
		requireHonest(t, of.ElemField(), c.Child(0))
	}
}

func notNull(name string, of arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: of} }

// TestNullsMakeFieldsNullable takes null rows from columns without nulls.
func TestNullsMakeFieldsNullable(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		number := arrow.PrimitiveTypes.Int32
		runs := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, number)
		runs.ValueNullable = false
		union := arrow.SparseUnionOf([]arrow.Field{notNull("i", number), notNull("s", arrow.BinaryTypes.String)}, []arrow.UnionTypeCode{0, 1})
		fields := []arrow.Field{
			notNull("number", number), notNull("union", union), notNull("runs", runs),
			notNull("struct", arrow.StructOf(notNull("a", number), notNull("b", arrow.BinaryTypes.String))),
			notNull("embedding", arrow.FixedSizeListOfNonNullable(3, number)),
			notNull("nested", arrow.StructOf(arrow.Field{Name: "u", Type: union, Nullable: true})),
		}
		g := arraytest.NewGenerator(3)
		g.Nulls = arraytest.NoneNull
		var columns []*column.Column
		for _, field := range fields {
			values := g.Array(field.Type, 10)
			defer values.Release()
			columns = append(columns, upload(t, mgr, values, 0, 0))
		}
		metadata := arrow.MetadataFrom(map[string]string{"k": "v"})
		table, err := buffer.New(arrow.NewSchema(fields, &metadata), columns, buffer.Rows{Count: 10})
		require.NoError(t, err)
		release(t, table)

		for _, bounds := range []selection.Bounds{selection.Check, selection.Null} {
			rows := []int{3, -1, 2}
			if bounds == selection.Null {
				rows = []int{3, 10, 2}
			}
			taken, err := selection.TakeWith(t.Context(), table, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, rows), 0, 0),
				selection.TakeOptions{Bounds: bounds})
			require.NoError(t, err)
			release(t, taken)
			require.Equal(t, metadata, taken.Schema().Metadata())
			for i, field := range taken.Schema().Fields() {
				require.True(t, field.Nullable, "%v", field)
				requireHonest(t, field, taken.Column(i))
			}
			both, err := selection.Concat(t.Context(), []*buffer.Buffer{table, taken})
			require.NoError(t, err)
			release(t, both)
			for i, field := range both.Schema().Fields() {
				require.True(t, field.Nullable, "%v", field)
				requireHonest(t, field, both.Column(i))
			}
		}
		same, err := selection.Take(t.Context(), table, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, []int{1, 2}), 0, 0))
		require.NoError(t, err)
		release(t, same)
		require.True(t, same.Schema().Equal(table.Schema()), "rows that are not null change nothing")
	})
}
