package buffer_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkCheckedLoad compares loads that check the contents of a record with loads
// that do not, on the host and on every GPU. Integers have no contents to check.
func BenchmarkCheckedLoad(b *testing.B) {
	const rows = 2 << 20
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.BinaryTypes.StringView,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.ListViewOf(arrow.PrimitiveTypes.Int32),
	}
	for _, name := range append([]string{"host"}, devicetest.GPUs(b)...) {
		b.Run(name, func(b *testing.B) {
			mgr := devicetest.Manager(b, devicetest.Open(b, name), memory.Options{})
			for _, dataType := range types {
				g := arraytest.NewGenerator(1)
				g.Nulls = arraytest.NoneNull
				values := g.Array(dataType, rows)
				schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dataType}}, nil)
				record := array.NewRecord(schema, []arrow.Array{values}, rows)
				for _, unchecked := range []bool{true, false} {
					b.Run(fmt.Sprintf("%v/unchecked=%v", dataType, unchecked), func(b *testing.B) {
						var bytes uint64
						for b.Loop() {
							table, err := buffer.FromRecordWith(b.Context(), mgr, record, buffer.LoadOptions{Unchecked: unchecked})
							if err != nil {
								b.Fatal(err)
							}
							bytes = table.Bytes()
							if err := table.Release(); err != nil {
								b.Fatal(err)
							}
						}
						b.SetBytes(int64(bytes))
					})
				}
				record.Release()
				values.Release()
			}
			require.Zero(b, mgr.Stats().InUse)
		})
	}
}
