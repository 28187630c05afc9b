package format_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// again describes a field recursively and rebuilds it.
func again(t require.TestingT, field arrow.Field) arrow.Field {
	d, err := format.Describe(field)
	require.NoError(t, err)
	p, err := format.Parse(d.Format)
	require.NoError(t, err, d.Format)
	var children []arrow.Field
	for _, child := range d.Children {
		children = append(children, again(t, child))
	}
	var values *arrow.Field
	if d.Dictionary != nil {
		dictionary := again(t, arrow.Field{Type: d.Dictionary})
		values = &dictionary
	}
	made, err := p.Type(children, d.Flags, values)
	require.NoError(t, err, d.Format)
	metadata, length, err := format.DecodeMetadata(d.Metadata)
	if d.Metadata != nil {
		require.NoError(t, err)
	}
	require.Equal(t, len(d.Metadata), length)
	return format.Extension(arrow.Field{Name: d.Name, Type: made, Nullable: d.Flags&format.FlagNullable != 0, Metadata: metadata})
}

func requireSameField(t require.TestingT, want, got arrow.Field) {
	require.Equal(t, want.Name, got.Name)
	require.Equal(t, want.Nullable, got.Nullable)
	require.Equal(t, want.Metadata, got.Metadata)
	require.True(t, arrow.TypeEqual(want.Type, got.Type, arrow.CheckMetadata()), "%v\n%v", want.Type, got.Type)
	// TypeEqual ignores some properties of a type; the string contains more of them.
	require.Equal(t, want.Type.String(), got.Type.String())
}

func TestTypes(t *testing.T) {
	for _, c := range formattest.All() {
		t.Run(c.Format+" "+c.Type.String(), func(t *testing.T) {
			text, err := format.Of(c.Type)
			require.NoError(t, err)
			require.Equal(t, c.Format, text)
			for _, nullable := range []bool{false, true} {
				field := arrow.Field{Name: "x", Type: c.Type, Nullable: nullable}
				requireSameField(t, field, again(t, field))
			}
		})
	}
}

func TestRandomFields(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		field := formattest.Field(3).Draw(t, "field")
		requireSameField(t, field, again(t, field))
	})
}

// TestTypeFlags checks properties that TypeEqual ignores.
func TestTypeFlags(t *testing.T) {
	sorted := arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8)
	sorted.KeysSorted = true
	require.True(t, again(t, arrow.Field{Type: sorted}).Type.(*arrow.MapType).KeysSorted)
	sorted.KeysSorted = false
	require.False(t, again(t, arrow.Field{Type: sorted}).Type.(*arrow.MapType).KeysSorted)

	runs := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int8)
	require.True(t, again(t, arrow.Field{Type: runs}).Type.(*arrow.RunEndEncodedType).ValueNullable)
	runs.ValueNullable = false
	require.False(t, again(t, arrow.Field{Type: runs}).Type.(*arrow.RunEndEncodedType).ValueNullable)
}

func TestSpecialSpellings(t *testing.T) {
	p, err := format.Parse("d:5,2,128")
	require.NoError(t, err)
	made, err := p.Type(nil, 0, nil)
	require.NoError(t, err)
	require.Equal(t, &arrow.Decimal128Type{Precision: 5, Scale: 2}, made)
}
