//go:build cgo && !(386 || arm || mips || mipsle)

package format_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/format"
	"github.com/gpuframe/gpuframe/arrowdev/internal/format/formattest"
	"github.com/gpuframe/gpuframe/internal/address"
)

// text reads a C string.
func text(at uintptr) string {
	start, length := (*byte)(address.Pointer(at)), 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(start, length))
}

// requireSchema compares a schema that arrow-go wrote with a description.
func requireSchema(t require.TestingT, schema *cabi.Schema, field arrow.Field) {
	d, err := format.Describe(field)
	require.NoError(t, err)
	require.Equal(t, text(schema.Format), d.Format)
	require.Equal(t, text(schema.Name), d.Name)
	require.Equal(t, schema.Flags, d.Flags)
	metadata, length, err := format.ReadMetadata(address.Pointer(schema.Metadata))
	require.NoError(t, err)
	if metadata.Len() > 0 {
		require.Equal(t, address.Bytes(schema.Metadata, uint64(length)), d.Metadata)
	} else {
		require.Nil(t, d.Metadata)
	}
	require.EqualValues(t, schema.NumChildren, len(d.Children))
	for i, child := range d.Children {
		table := unsafe.Slice((**cabi.Schema)(address.Pointer(schema.Children)), len(d.Children))
		requireSchema(t, table[i], child)
	}
	require.Equal(t, schema.Dictionary != 0, d.Dictionary != nil)
	if d.Dictionary != nil {
		values := (*cabi.Schema)(address.Pointer(schema.Dictionary))
		// arrow-go calls the values nullable or not as it happens.
		nullable := values.Flags&cabi.FlagNullable != 0
		requireSchema(t, values, arrow.Field{Type: d.Dictionary, Nullable: nullable})
	}
}

func requireAsArrowGo(t require.TestingT, field arrow.Field) {
	var exported cdata.CArrowSchema
	cdata.ExportArrowSchema(arrow.NewSchema([]arrow.Field{field}, nil), &exported)
	defer cdata.ReleaseCArrowSchema(&exported)
	schema := (*cabi.Schema)(unsafe.Pointer(&exported))
	require.EqualValues(t, 1, schema.NumChildren)
	requireSchema(t, *(**cabi.Schema)(address.Pointer(schema.Children)), field)
}

func TestDescribeAsArrowGo(t *testing.T) {
	for _, c := range formattest.All() {
		t.Run(c.Format+" "+c.Type.String(), func(t *testing.T) {
			requireAsArrowGo(t, arrow.Field{Name: "x", Type: c.Type, Nullable: true})
		})
	}
	requireAsArrowGo(t, arrow.Field{Name: "x", Type: newParameters(arrow.PrimitiveTypes.Int8, "text"),
		Metadata: arrow.NewMetadata([]string{"a"}, []string{"b"})})
}

func TestRandomAsArrowGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { requireAsArrowGo(t, formattest.Field(2).Draw(t, "field")) })
}
