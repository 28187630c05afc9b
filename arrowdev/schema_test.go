//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// requireSameField compares everything that both arrow-go and the standard represent.
func requireSameField(t require.TestingT, want, got arrow.Field) {
	require.True(t, want.Equal(got), "%v\n%v", want, got)
	require.Equal(t, want.Type.String(), got.Type.String())
}

// newSchema returns a struct in C memory that is filled with garbage.
func newSchema() *cabi.Schema {
	schema := cabitest.New[cabi.Schema]()
	schema.Format, schema.NumChildren, schema.Children = 1, -1, 1
	return schema
}

func fieldAndBack(t require.TestingT, field arrow.Field) {
	schema := newSchema()
	defer cabitest.Free(schema)
	require.NoError(t, arrowdev.ExportField(field, unsafe.Pointer(schema)))
	got, err := arrowdev.ImportField(unsafe.Pointer(schema))
	require.NoError(t, err)
	require.Zero(t, schema.Release)
	requireSameField(t, field, got)
}

func TestFieldRoundTrip(t *testing.T) {
	for _, c := range formattest.All() {
		t.Run(c.Format+" "+c.Type.String(), func(t *testing.T) {
			metadata := arrow.NewMetadata([]string{"a", "a", ""}, []string{"1", "", "\xff"})
			fieldAndBack(t, arrow.Field{Name: "naïve", Type: c.Type, Nullable: true, Metadata: metadata})
			fieldAndBack(t, arrow.Field{Type: c.Type})
		})
	}
}

func TestRandomFieldRoundTrip(t *testing.T) {
	property.Check(t, func(t *rapid.T) { fieldAndBack(t, formattest.Field(3).Draw(t, "field")) })
}

func TestSchemaRoundTrip(t *testing.T) {
	number := arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32}
	text := arrow.Field{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: arrow.NewMetadata([]string{"a"}, []string{"b"})}
	metadata := arrow.NewMetadata([]string{"pandas", "ARROW:extension:name"}, []string{"{}", "not one of a schema's"})
	for _, want := range []*arrow.Schema{
		arrow.NewSchema(nil, nil),
		arrow.NewSchema([]arrow.Field{number, text, number}, nil),
		arrow.NewSchema([]arrow.Field{text}, &metadata),
		arrow.NewSchema(nil, &metadata),
	} {
		schema := newSchema()
		defer cabitest.Free(schema)
		require.NoError(t, arrowdev.ExportSchema(want, unsafe.Pointer(schema)))
		require.Zero(t, schema.Flags)
		got, err := arrowdev.ImportSchema(unsafe.Pointer(schema))
		require.NoError(t, err)
		require.True(t, want.Equal(got), got)
		require.True(t, want.Metadata().Equal(got.Metadata()), got.Metadata())
	}
}

// One type has the maximum depth, one exceeds it.
func TestDeepTypes(t *testing.T) {
	deep := arrow.DataType(arrow.Null)
	for range 63 {
		deep = arrow.ListOf(deep)
	}
	fieldAndBack(t, arrow.Field{Type: deep})
	schema := newSchema()
	defer cabitest.Free(schema)
	before := *schema
	err := arrowdev.ExportField(arrow.Field{Type: arrow.ListOf(deep)}, unsafe.Pointer(schema))
	require.ErrorIs(t, err, arrowdev.ErrUnsupported)
	require.Equal(t, before, *schema)
}

func TestWideSchema(t *testing.T) {
	fields := make([]arrow.Field, 1<<16)
	for i := range fields {
		fields[i] = arrow.Field{Name: string(rune('a' + i%26)), Type: arrow.PrimitiveTypes.Int8}
	}
	fieldAndBack(t, arrow.Field{Type: arrow.StructOf(fields...)})
}
