//go:build cgo && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// cText reads a C string.
func cText(at uintptr) string {
	start, length := (*byte)(address.Pointer(at)), 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(start, length))
}

// requireDescribed compares a schema that arrow-go wrote with a description.
func requireDescribed(t require.TestingT, schema *cabi.Schema, field arrow.Field) {
	d, err := format.Describe(field)
	require.NoError(t, err)
	require.Equal(t, cText(schema.Format), d.Format)
	require.Equal(t, cText(schema.Name), d.Name)
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
		requireDescribed(t, table[i], child)
	}
	require.Equal(t, schema.Dictionary != 0, d.Dictionary != nil)
	if d.Dictionary != nil {
		values := (*cabi.Schema)(address.Pointer(schema.Dictionary))
		// arrow-go does not set the nullability of the values consistently.
		nullable := values.Flags&cabi.FlagNullable != 0
		requireDescribed(t, values, arrow.Field{Type: d.Dictionary, Nullable: nullable})
	}
}

func requireDescribedAsArrowGo(t require.TestingT, field arrow.Field) {
	if leaksAreFound && hasDictionary(field) {
		return // arrow-go's release forgets the schemas of dictionaries
	}
	var exported cdata.CArrowSchema
	cdata.ExportArrowSchema(arrow.NewSchema([]arrow.Field{field}, nil), &exported)
	defer cdata.ReleaseCArrowSchema(&exported)
	schema := (*cabi.Schema)(unsafe.Pointer(&exported))
	require.EqualValues(t, 1, schema.NumChildren)
	requireDescribed(t, *(**cabi.Schema)(address.Pointer(schema.Children)), field)
}

func TestFieldsAreDescribedAsArrowGoDoes(t *testing.T) {
	for _, c := range formattest.All() {
		t.Run(c.Format+" "+c.Type.String(), func(t *testing.T) {
			requireDescribedAsArrowGo(t, arrow.Field{Name: "x", Type: c.Type, Nullable: true})
		})
	}
}

func TestRandomFieldsAreDescribedAsArrowGoDoes(t *testing.T) {
	property.Check(t, func(t *rapid.T) { requireDescribedAsArrowGo(t, formattest.Field(2).Draw(t, "field")) })
}
