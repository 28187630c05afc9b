package layout_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/endian"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// TestSchemas compares schemas with those that arrow makes, and finds those again that have no metadata.
func TestSchemas(t *testing.T) {
	at := &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}
	metadata := arrow.NewMetadata([]string{"k"}, []string{"v"})
	lists := [][]arrow.Field{
		nil,
		{{Name: "a", Type: arrow.PrimitiveTypes.Int32}},
		{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}},
		{{Name: "a", Type: arrow.PrimitiveTypes.Int64}},
		{{Name: "a", Type: at}, {Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}},
		{{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "a", Type: at}},
		{{Name: "a", Type: at}, {Name: "a", Type: at}},
	}
	for _, fields := range lists {
		schema := layout.Schema(fields)
		require.True(t, arrow.NewSchema(fields, nil).Equal(schema))
		require.Same(t, schema, layout.Schema(fields))
		with := layout.SchemaWith(fields, &metadata, endian.NativeEndian)
		require.True(t, arrow.NewSchema(fields, &metadata).Equal(with))
		require.Equal(t, metadata, with.Metadata())
		require.NotEqual(t, endian.NativeEndian, layout.SchemaWith(fields, nil, endian.NonNativeEndian).Endianness())
	}
	described := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Metadata: metadata}}
	require.Equal(t, metadata, layout.Schema(described).Field(0).Metadata)
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}
	schema := layout.Schema(fields)
	fields[0].Name = "b" // the schema has its own fields
	require.Equal(t, "a", schema.Field(0).Name)
	require.Equal(t, "b", layout.Schema(fields).Field(0).Name)
}

// TestSchemasOfManyGoroutines makes more schemas than are kept.
func TestSchemasOfManyGoroutines(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 3000 {
				fields := []arrow.Field{{Name: fmt.Sprint("column ", i%1000), Type: arrow.PrimitiveTypes.Int32}, {Name: fmt.Sprint(i % 7), Type: arrow.PrimitiveTypes.Float64, Nullable: i%2 == 0}}
				assert.True(t, arrow.NewSchema(fields, nil).Equal(layout.Schema(fields)))
			}
		})
	}
	group.Wait()
}
