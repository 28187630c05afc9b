package buffer_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// Views of views have the contents that arrow-go gives the record by the same steps.
func TestViewsOfViewsAreThoseOfTheRecord(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 60)
		property.Check(t, func(t *rapid.T) {
			record := whole
			table, err := buffer.FromRecord(mgr, whole)
			require.NoError(t, err)
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				var view *buffer.Buffer
				if rapid.Bool().Draw(t, "slice") || record.NumCols() == 0 {
					from := rapid.Int64Range(0, record.NumRows()).Draw(t, "from")
					length := rapid.Int64Range(0, record.NumRows()-from).Draw(t, "length")
					view, err = table.Slice(from, length)
					record = record.NewSlice(from, from+length)
				} else {
					names := make([]string, record.NumCols())
					for i := range names {
						names[i] = record.ColumnName(i)
					}
					names = rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "names")
					view, err = table.Select(names...)
					record = selected(record, names)
				}
				require.NoError(t, err)
				require.NoError(t, table.Release())
				table = view
			}
			back, err := table.Record(t.Context())
			require.NoError(t, err)
			requireSame(t, record, back)
			back.Release()
			require.NoError(t, table.Release())
			require.Zero(t, mgr.Stats().Blocks)
		})
	})
}

func selected(record arrow.Record, names []string) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	for _, name := range names {
		i := record.Schema().FieldIndices(name)[0]
		fields, columns = append(fields, record.Schema().Field(i)), append(columns, record.Column(i))
	}
	metadata := record.Schema().Metadata()
	return array.NewRecord(arrow.NewSchema(fields, &metadata), columns, record.NumRows())
}
