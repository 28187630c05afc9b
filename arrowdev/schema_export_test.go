//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/endian"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/arrowdev/internal/schematest"
)

func requireFault(t *testing.T, err error, operation, field string, condition error) {
	t.Helper()
	require.ErrorIs(t, err, condition)
	var fault *arrowdev.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, operation, fault.Operation)
	require.Equal(t, field, fault.Field, err.Error())
}

func TestExportRefuses(t *testing.T) {
	broken := arrow.Field{Name: "x", Type: &arrow.ListType{}}
	text := arrow.Field{Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.ListOf(&arrow.Decimal128Type{})}}
	wide := make([]arrow.Field, 1<<16)
	for i := range wide {
		wide[i].Type = arrow.Null
	}
	five := make([]arrow.Field, 5)
	for i := range five {
		five[i].Type = arrow.StructOf(wide...)
	}
	for _, c := range []struct {
		name      string
		field     arrow.Field
		at        string
		condition error
	}{
		{"no type", arrow.Field{}, "ArrowSchema.format", arrowdev.ErrInvalid},
		{"empty list", broken, "ArrowSchema.children[0]", arrowdev.ErrInvalid},
		{"name", arrow.Field{Name: "a\x00", Type: arrow.Null}, "ArrowSchema.name", arrowdev.ErrInvalid},
		{"deep", arrow.Field{Type: arrow.StructOf(text, text)}, "ArrowSchema.children[0].dictionary.children[0].format", arrowdev.ErrInvalid},
		{"time zone", arrow.Field{Type: &arrow.TimestampType{TimeZone: "\xff"}}, "ArrowSchema.format", arrowdev.ErrInvalid},
		{"too wide", arrow.Field{Type: arrow.StructOf(append(wide, wide[0])...)}, "ArrowSchema.children", arrowdev.ErrUnsupported},
		{"too many fields", arrow.Field{Type: arrow.StructOf(five...)}, "ArrowSchema.children[3].children[65531]", arrowdev.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema := newSchema()
			defer cabitest.Free(schema)
			before := *schema
			requireFault(t, arrowdev.ExportField(c.field, unsafe.Pointer(schema)), "export schema", c.at, c.condition)
			require.Equal(t, before, *schema)
		})
	}
	schema := newSchema()
	defer cabitest.Free(schema)
	requireFault(t, arrowdev.ExportField(arrow.Field{Type: arrow.Null}, nil), "export schema", "ArrowSchema", arrowdev.ErrInvalid)
	requireFault(t, arrowdev.ExportSchema(nil, unsafe.Pointer(schema)), "export schema", "ArrowSchema", arrowdev.ErrInvalid)
	other := arrow.NewSchema(nil, nil).WithEndianness(endian.NonNativeEndian)
	requireFault(t, arrowdev.ExportSchema(other, unsafe.Pointer(schema)), "export schema", "ArrowSchema", arrowdev.ErrUnsupported)
}

// export exports a struct of a list and a dictionary.
func export(t *testing.T) *cabi.Schema {
	schema := newSchema()
	t.Cleanup(func() { cabitest.Free(schema) })
	require.NoError(t, arrowdev.ExportField(arrow.Field{Name: "parent", Type: arrow.StructOf(
		arrow.Field{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String)},
		arrow.Field{Name: "dictionary", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	)}, unsafe.Pointer(schema)))
	return schema
}

func TestReleaseTwiceAndOnAnotherThread(t *testing.T) {
	schema := export(t)
	copied := *schema
	require.NoError(t, cabitest.ReleaseSchemaOnThread(schema))
	require.Zero(t, schema.Release)
	// This consumer releases the struct after it has moved it.
	again := cabitest.New[cabi.Schema]()
	defer cabitest.Free(again)
	*again = copied
	cabitest.ReleaseSchema(again)
	require.Zero(t, again.Release)
}

func TestChildrenMovedOut(t *testing.T) {
	schema := export(t)
	list, dictionary := cabitest.New[cabi.Schema](), cabitest.New[cabi.Schema]()
	defer cabitest.Free(list)
	defer cabitest.Free(dictionary)
	cabitest.MoveSchema(list, schematest.Child(schema, 0))
	cabitest.MoveSchema(dictionary, schematest.Child(schema, 1))
	require.NoError(t, cabitest.ReleaseSchemaOnThread(schema))

	field, err := arrowdev.ImportField(unsafe.Pointer(list))
	require.NoError(t, err)
	require.Equal(t, "list", field.Name)
	require.True(t, arrow.TypeEqual(arrow.ListOf(arrow.BinaryTypes.String), field.Type))
	field, err = arrowdev.ImportField(unsafe.Pointer(dictionary))
	require.NoError(t, err)
	require.Equal(t, arrow.DICTIONARY, field.Type.ID())
}

// The standard forbids that consumers release children separately, but arrow-go does
// it.
func TestChildrenReleasedFirst(t *testing.T) {
	schema := export(t)
	cabitest.ReleaseSchema(schematest.Child(schema, 1))
	_, err := arrowdev.ImportField(unsafe.Pointer(schema))
	requireFault(t, err, "import schema", "ArrowSchema.children[1].release", arrowdev.ErrMoved)
	require.Zero(t, schema.Release)
}
