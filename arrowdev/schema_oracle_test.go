//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// fromArrowGo reads a schema that arrow-go wrote. arrow-go's release leaks the
// schemas of dictionaries.
func fromArrowGo(t require.TestingT, want *arrow.Schema) {
	if leaksAreFound && slices.ContainsFunc(want.Fields(), hasDictionary) {
		return
	}
	schema := cabitest.New[cabi.Schema]()
	defer cabitest.Free(schema)
	cdata.ExportArrowSchema(want, (*cdata.CArrowSchema)(unsafe.Pointer(schema)))
	got, err := arrowdev.ImportSchema(unsafe.Pointer(schema))
	require.NoError(t, err)
	require.True(t, want.Metadata().Equal(got.Metadata()))
	require.Equal(t, want.NumFields(), got.NumFields())
	for i, field := range want.Fields() {
		requireSameField(t, field, got.Field(i))
	}
}

func hasDictionary(field arrow.Field) bool {
	switch t := field.Type.(type) {
	case *arrow.DictionaryType:
		return true
	case arrow.ExtensionType:
		return hasDictionary(arrow.Field{Type: t.StorageType()})
	case arrow.NestedType:
		return slices.ContainsFunc(t.Fields(), hasDictionary)
	}
	return false
}

// toArrowGo has arrow-go read a schema that gpuframe wrote.
func toArrowGo(t require.TestingT, want *arrow.Schema) {
	schema := cabitest.New[cabi.Schema]()
	defer cabitest.Free(schema)
	require.NoError(t, arrowdev.ExportSchema(want, unsafe.Pointer(schema)))
	got, err := cdata.ImportCArrowSchema((*cdata.CArrowSchema)(unsafe.Pointer(schema)))
	require.NoError(t, err)
	require.True(t, want.Metadata().Equal(got.Metadata()))
	require.Equal(t, want.NumFields(), got.NumFields())
	for i, field := range want.Fields() {
		require.True(t, field.Equal(got.Field(i)), "%v\n%v", field, got.Field(i))
	}
	require.Zero(t, schema.Release)
}

// readsWrongly returns why arrow-go 17 cannot read a type that it wrote itself, or
// "".
func readsWrongly(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.TimestampType:
		if strings.Contains(t.TimeZone, ":") {
			return "it cuts time zones at colons"
		}
	case *arrow.DictionaryType:
		if t.Ordered {
			return "it looks for the order in the dictionary's flags"
		}
	case arrow.UnionType:
		if len(t.TypeCodes()) == 0 {
			return "it takes no union without children"
		}
	case *arrow.MapType:
		return "it drops all of keys and values except their types"
	case arrow.NestedType:
		for _, child := range t.Fields() {
			if why := readsWrongly(child.Type); why != "" {
				return why
			}
		}
	}
	return ""
}

func TestSchemasFromAndToArrowGo(t *testing.T) {
	metadata := arrow.NewMetadata([]string{"a"}, []string{"b"})
	for _, c := range formattest.All() {
		t.Run(c.Format+" "+c.Type.String(), func(t *testing.T) {
			field := arrow.Field{Name: "x", Type: c.Type, Nullable: true, Metadata: metadata}
			schema := arrow.NewSchema([]arrow.Field{field}, &metadata)
			fromArrowGo(t, schema)
			if why := readsWrongly(c.Type); why != "" {
				t.Skip("arrow-go 17 cannot read this: " + why)
			}
			toArrowGo(t, schema)
		})
	}
}

func TestRandomSchemasFromArrowGo(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		metadata := formattest.Metadata().Draw(t, "metadata")
		fields := rapid.SliceOfN(formattest.Field(2), 0, 3).Draw(t, "fields")
		fromArrowGo(t, arrow.NewSchema(fields, &metadata))
	})
}
