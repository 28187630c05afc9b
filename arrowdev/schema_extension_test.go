//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
)

// labelled is an extension type of any storage.
type labelled struct {
	arrow.ExtensionBase
	label string
}

type labelledArray struct{ array.ExtensionArrayBase }

func newLabelled(storage arrow.DataType, label string) *labelled {
	return &labelled{arrow.ExtensionBase{Storage: storage}, label}
}

func (*labelled) ArrayType() reflect.Type { return reflect.TypeFor[labelledArray]() }
func (*labelled) ExtensionName() string   { return "gpuframe.test.arrowdev" }
func (l *labelled) Serialize() string     { return l.label }
func (l *labelled) ExtensionEquals(other arrow.ExtensionType) bool {
	o, ok := other.(*labelled)
	return ok && o.label == l.label && arrow.TypeEqual(o.Storage, l.Storage)
}

func (*labelled) Deserialize(storage arrow.DataType, label string) (arrow.ExtensionType, error) {
	return newLabelled(storage, label), nil
}

// Extension types within each other's storage, and as values of a dictionary.
func TestExtensionTypeRoundTrip(t *testing.T) {
	inner := newLabelled(arrow.BinaryTypes.String, "inner")
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: inner}
	field := arrow.Field{
		Name:     "x",
		Type:     newLabelled(arrow.StructOf(arrow.Field{Name: "d", Type: dictionary}), "outer"),
		Metadata: arrow.NewMetadata([]string{"a"}, []string{"b"}),
	}
	schema := newSchema()
	defer cabitest.Free(schema)
	require.NoError(t, arrowdev.ExportField(field, unsafe.Pointer(schema)))
	unknown, err := arrowdev.ImportField(unsafe.Pointer(schema))
	require.NoError(t, err)
	require.Equal(t, "struct<d: dictionary<values=utf8, indices=int8, ordered=false>>", unknown.Type.String())
	require.Equal(t, []string{"a", "ARROW:extension:name", "ARROW:extension:metadata"}, unknown.Metadata.Keys())

	require.NoError(t, arrow.RegisterExtensionType(newLabelled(arrow.Null, "")))
	defer func() { require.NoError(t, arrow.UnregisterExtensionType("gpuframe.test.arrowdev")) }()
	fieldAndBack(t, field)

	// The metadata of a table are the table's, even if they name a type.
	name := arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"gpuframe.test.arrowdev"})
	table := cabitest.New[cabi.Schema]()
	defer cabitest.Free(table)
	require.NoError(t, arrowdev.ExportSchema(arrow.NewSchema([]arrow.Field{field}, &name), unsafe.Pointer(table)))
	got, err := arrowdev.ImportSchema(unsafe.Pointer(table))
	require.NoError(t, err)
	require.True(t, name.Equal(got.Metadata()))
	requireSameField(t, field, got.Field(0))
}
