package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// lastType is the last identity of arrow-go.
const lastType = arrow.LARGE_LIST_VIEW

// specification is arrow-go's description of a buffer.
func specification(l layout.Layout, b layout.Buffer) arrow.BufferSpec {
	switch b {
	case layout.Validity, layout.ValueBits:
		return arrow.SpecBitmap()
	case layout.Data:
		return arrow.SpecVariableWidth()
	}
	return arrow.SpecFixedWidth(l.ElementBytes(b))
}

// checkAgainstArrow compares a layout with arrow-go's, and does so for its children.
func checkAgainstArrow(t require.TestingT, dataType arrow.DataType) {
	l, err := layout.Of(dataType)
	require.NoError(t, err, "%v", dataType)
	expected := dataType.Layout()
	var buffers []arrow.BufferSpec
	for i := range l.Buffers() {
		buffers = append(buffers, specification(l, l.Buffer(i)))
	}
	if l.Buffers() == 0 {
		// arrow-go has a buffer that is never there.
		buffers = []arrow.BufferSpec{arrow.SpecAlwaysNull()}
	}
	require.Equal(t, expected.Buffers, buffers, "%v", dataType)
	require.Equal(t, expected.HasDict, l.Kind == layout.Dictionary, "%v", dataType)
	require.Equal(t, expected.VariadicSpec != nil, l.Kind == layout.View, "%v", dataType)
	require.Equal(t, l.HasValidity(), expected.Buffers[0].Kind == arrow.KindBitmap, "%v", dataType)

	if fixed, ok := l.Storage.(arrow.FixedWidthDataType); ok && l.Kind != layout.Bits {
		require.Equal(t, fixed.BitWidth(), 8*l.Width, "%v", dataType)
		require.Equal(t, fixed.Bytes(), l.Width, "%v", dataType)
	}
	checkClass(t, l)

	var children []arrow.DataType
	switch nested := l.Storage.(type) {
	case *arrow.MapType: // its fields are those of its entries
		children = []arrow.DataType{nested.Elem()}
	case arrow.NestedType:
		for _, field := range nested.Fields() {
			children = append(children, field.Type)
		}
	}
	require.Equal(t, len(children), l.Children(), "%v", dataType)
	for i, expected := range children {
		child, _ := l.Child(i)
		require.True(t, arrow.TypeEqual(expected, child), "%v", dataType)
		checkAgainstArrow(t, child)
	}
	if values := l.Dictionary(); values != nil {
		checkAgainstArrow(t, values)
	}
}

// checkClass compares a class with arrow-go's predicates of the type.
func checkClass(t require.TestingT, l layout.Layout) {
	id := l.Storage.ID()
	temporal := strings.HasPrefix(id.String(), "DATE") || strings.HasPrefix(id.String(), "TIME") || id == arrow.DURATION
	for class, holds := range map[layout.Class]bool{
		layout.Empty:    id == arrow.NULL,
		layout.Boolean:  id == arrow.BOOL,
		layout.Signed:   arrow.IsSignedInteger(id),
		layout.Unsigned: arrow.IsUnsignedInteger(id),
		layout.Float:    arrow.IsFloating(id),
		layout.Decimal:  arrow.IsDecimal(id),
		layout.Temporal: temporal,
		layout.Interval: strings.HasPrefix(id.String(), "INTERVAL"),
		layout.Bytes:    arrow.IsBaseBinary(id) || id == arrow.FIXED_SIZE_BINARY || l.Kind == layout.View,
		layout.Nested:   arrow.IsNested(id) && id != arrow.RUN_END_ENCODED,
		layout.Encoded:  id == arrow.DICTIONARY || id == arrow.RUN_END_ENCODED,
	} {
		require.Equal(t, holds, l.Class == class, "%v is %v", l.Storage, class)
	}
}

// TestLayoutsAreArrows compares the table with arrow-go's layouts of every type.
func TestLayoutsAreArrows(t *testing.T) {
	met := map[arrow.Type]bool{}
	for _, dataType := range arraytest.AllTypes() {
		checkAgainstArrow(t, dataType)
		met[dataType.ID()] = true
	}
	for id := arrow.NULL; id <= lastType; id++ {
		require.True(t, met[id], "%v is not tested", id)
	}
	require.Equal(t, "Type(43)", arrow.Type(lastType+1).String(), "arrow-go has new types")
}

func TestLayoutsOfRandomTypesAreArrows(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		checkAgainstArrow(t, formattest.Field(3).Draw(t, "field").Type)
	})
}

// TestBuffersAreArrays compares extents with the buffers of arrays, which the generator
// makes exactly as long as they must be.
func TestBuffersAreArrays(t *testing.T) {
	const length = 13
	g := arraytest.NewGenerator(1)
	for _, dataType := range arraytest.AllTypes() {
		values := g.Array(dataType, length)
		checkBuffers(t, values.Data())
		values.Release()
	}
}

func checkBuffers(t *testing.T, data arrow.ArrayData) {
	t.Helper()
	l, err := layout.Of(data.DataType())
	require.NoError(t, err)
	for i := range l.Buffers() {
		b := l.Buffer(i)
		buffer := data.Buffers()[l.InArrow(i)]
		if b == layout.Data || buffer == nil {
			continue
		}
		extent, ok := l.Extent(b, data.Offset()+data.Len())
		require.True(t, ok)
		require.EqualValues(t, buffer.Len(), extent, "%v of %v", b, data.DataType())
	}
	require.Len(t, data.Children(), l.Children())
	need, ok := l.ChildLength(data.Offset() + data.Len())
	require.True(t, ok)
	for _, child := range data.Children() {
		require.GreaterOrEqual(t, child.Len(), need, "%v", data.DataType())
		checkBuffers(t, child)
	}
}

// TestClassesDecideOperations pins which operations are defined for which types.
func TestClassesDecideOperations(t *testing.T) {
	for _, dataType := range arraytest.AllTypes() {
		l, err := layout.Of(dataType)
		require.NoError(t, err)
		number := l.Class == layout.Signed || l.Class == layout.Unsigned || l.Class == layout.Float || l.Class == layout.Decimal
		months := l.Storage.ID() == arrow.INTERVAL_MONTHS
		require.Equal(t, number, l.Arithmetic(), "%v", dataType)
		require.Equal(t, number || months || l.Class == layout.Boolean || l.Class == layout.Temporal || l.Class == layout.Bytes, l.Ordered(), "%v", dataType)
		require.Equal(t, l.Ordered() || l.Class == layout.Interval, l.Comparable(), "%v", dataType)
		require.Equal(t, l.Comparable() && !arrow.IsFloating(l.Storage.ID()), l.EqualByBytes(), "%v", dataType)
		if l.Class == layout.Temporal || months {
			require.Equal(t, layout.Signed, l.Stored(), "%v", dataType)
		} else {
			require.Equal(t, l.Class, l.Stored(), "%v", dataType)
		}
	}
}

// TestExtents pins what buffers need for some elements, and when that is too much.
func TestExtents(t *testing.T) {
	for _, each := range []struct {
		dataType arrow.DataType
		buffer   layout.Buffer
		end      int
		bytes    uint64
	}{
		{arrow.BinaryTypes.String, layout.Offsets, 0, 0},
		{arrow.BinaryTypes.String, layout.Offsets, 1, 8},
		{arrow.BinaryTypes.LargeString, layout.Offsets, 9, 80},
		{arrow.BinaryTypes.String, layout.Data, 9, 0},
		{arrow.BinaryTypes.String, layout.Validity, 9, 2},
		{arrow.BinaryTypes.StringView, layout.Views, 3, 48},
		{arrow.FixedWidthTypes.Boolean, layout.ValueBits, 8, 1},
		{arrow.PrimitiveTypes.Int64, layout.Values, 3, 24},
		{arrow.LargeListViewOf(arrow.Null), layout.Sizes, 3, 24},
		{arrow.DenseUnionOf(nil, nil), layout.TypeIDs, 3, 3},
		{arrow.DenseUnionOf(nil, nil), layout.ChildOffsets, 3, 12},
	} {
		l, err := layout.Of(each.dataType)
		require.NoError(t, err)
		bytes, ok := l.Extent(each.buffer, each.end)
		require.True(t, ok)
		require.Equal(t, each.bytes, bytes, "%v of %v", each.buffer, each.dataType)
	}
	const most = int(^uint(0) >> 1)
	wide, err := layout.Of(&arrow.FixedSizeBinaryType{ByteWidth: most})
	require.NoError(t, err)
	_, ok := wide.Extent(layout.Values, most)
	require.False(t, ok)
	bits, ok := wide.Extent(layout.Validity, most)
	require.True(t, ok)
	require.Equal(t, uint64(most)/8+1, bits)
	lists, err := layout.Of(arrow.FixedSizeListOf(1<<30, arrow.Null))
	require.NoError(t, err)
	_, ok = lists.ChildLength(most)
	require.False(t, ok)
}

// TestAlignments compares alignments with those of the C types.
func TestAlignments(t *testing.T) {
	for _, each := range []struct {
		dataType  arrow.DataType
		buffer    layout.Buffer
		alignment int
	}{
		{arrow.FixedWidthTypes.Float16, layout.Values, 2},
		{&arrow.Decimal128Type{Precision: 5}, layout.Values, 8},
		{&arrow.Decimal256Type{Precision: 5}, layout.Values, 8},
		{arrow.FixedWidthTypes.DayTimeInterval, layout.Values, 4},
		{arrow.FixedWidthTypes.MonthDayNanoInterval, layout.Values, 8},
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, layout.Values, 1},
		{arrow.BinaryTypes.LargeString, layout.Offsets, 8},
		{arrow.BinaryTypes.LargeString, layout.Data, 1},
		{arrow.BinaryTypes.LargeString, layout.Validity, 1},
		{arrow.BinaryTypes.StringView, layout.Views, 8},
		{arrow.DenseUnionOf(nil, nil), layout.ChildOffsets, 4},
		{arrow.DenseUnionOf(nil, nil), layout.TypeIDs, 1},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}, layout.Indices, 2},
	} {
		l, err := layout.Of(each.dataType)
		require.NoError(t, err)
		require.Equal(t, each.alignment, l.Alignment(each.buffer), "%v of %v", each.buffer, each.dataType)
	}
}

func TestIndices(t *testing.T) {
	for _, each := range []struct {
		index  arrow.DataType
		signed bool
		most   uint64
	}{
		{arrow.PrimitiveTypes.Int8, true, 127},
		{arrow.PrimitiveTypes.Uint8, false, 255},
		{arrow.PrimitiveTypes.Int64, true, 1<<63 - 1},
		{arrow.PrimitiveTypes.Uint64, false, 1<<64 - 1},
	} {
		l, err := layout.Of(&arrow.DictionaryType{IndexType: each.index, ValueType: arrow.Null})
		require.NoError(t, err)
		require.Equal(t, each.signed, l.IsSigned())
		require.Equal(t, each.most, l.MaximumIndex())
	}
	l, err := layout.Of(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.Null))
	require.NoError(t, err)
	require.EqualValues(t, 1<<15-1, l.MaximumOffset())
}

// TestSame compares types that differ in what their values are, and in their memory.
func TestSame(t *testing.T) {
	of := func(t arrow.DataType) layout.Layout {
		l, _ := layout.Of(t)
		return l
	}
	number := arrow.PrimitiveTypes.Int32
	require.True(t, of(number).Same(of(arrow.FixedWidthTypes.Date32)))
	require.True(t, of(arrow.ListOf(number)).Same(of(arrow.MapOf(number, number))))
	require.False(t, of(number).Same(of(arrow.PrimitiveTypes.Int64)))
	require.False(t, of(arrow.ListOf(number)).Same(of(arrow.BinaryTypes.String)))
	require.False(t, of(arrow.FixedSizeListOf(2, number)).Same(of(arrow.FixedSizeListOf(3, number))))
	require.False(t, of(arrow.StructOf()).Same(of(arrow.StructOf(arrow.Field{Name: "a", Type: number}))))
}

// claims is a type with an identity that it does not have.
type claims struct {
	arrow.DataType
	id arrow.Type
}

func (c claims) ID() arrow.Type { return c.id }
func (c claims) String() string { return fmt.Sprintf("claims<%v>", c.id) }

// endless is an extension type that is stored as itself.
type endless struct{ arrow.ExtensionType }

func (e *endless) ID() arrow.Type              { return arrow.EXTENSION }
func (e *endless) StorageType() arrow.DataType { return e }
func (e *endless) String() string              { return "endless" }

func TestTypesWithoutLayouts(t *testing.T) {
	number, text := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	for _, each := range []struct {
		dataType arrow.DataType
		text     string
		unknown  bool
	}{
		{nil, "the type is nil", false},
		{claims{number, 99}, "has no layout that is known here", true},
		{claims{number, -1}, "has no layout that is known here", true},
		{claims{number, arrow.EXTENSION}, "claims to be an extension type", true},
		{arraytest.NewTemperature(nil), "without a storage type", false},
		{&endless{}, "without end", false},
		{&arrow.FixedSizeBinaryType{ByteWidth: -1}, "what its identity promises", false},
		{claims{number, arrow.LIST}, "what its identity promises", false},
		{claims{number, arrow.LARGE_LIST_VIEW}, "what its identity promises", false},
		{claims{number, arrow.FIXED_SIZE_LIST}, "what its identity promises", false},
		{claims{number, arrow.STRUCT}, "what its identity promises", false},
		{claims{number, arrow.DENSE_UNION}, "what its identity promises", false},
		{claims{number, arrow.DICTIONARY}, "no dictionary type with integer indices", false},
		{claims{number, arrow.RUN_END_ENCODED}, "not run-end encoded with", false},
		{&arrow.DictionaryType{ValueType: text}, "no dictionary type with integer indices", false},
		{&arrow.DictionaryType{IndexType: text, ValueType: text}, "no dictionary type with integer indices", false},
		{&arrow.DictionaryType{IndexType: arrow.FixedWidthTypes.Date32, ValueType: text}, "no dictionary type with integer indices", false},
		{&arrow.DictionaryType{IndexType: arraytest.NewTemperature(number), ValueType: text}, "no dictionary type with integer indices", false},
		{&arrow.RunEndEncodedType{}, "not run-end encoded with", false},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int8, text), "not run-end encoded with", false},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Uint32, text), "not run-end encoded with", false},
	} {
		_, err := layout.Of(each.dataType)
		var problem *layout.TypeError
		require.ErrorAs(t, err, &problem)
		require.ErrorContains(t, err, each.text)
		require.Equal(t, each.unknown, problem.Unknown, "%v", err)
	}
	require.Nil(t, layout.Storage(nil))
	require.Nil(t, layout.Storage(&endless{}))
	require.Equal(t, number, layout.Storage(arraytest.NewTemperature(arraytest.NewTemperature(number))))
}

func TestLookupsDoNotAllocate(t *testing.T) {
	for _, dataType := range arraytest.AllTypes() {
		union := strings.Contains(dataType.Name(), "union")
		require.Zero(t, allocations.PerRun(func() {
			l, _ := layout.Of(dataType)
			for i := range l.Buffers() {
				_, _ = l.Extent(l.Buffer(i), 9)
			}
			for i := range l.Children() {
				if !union {
					_, _ = l.Child(i)
				}
			}
		}), "%v", dataType)
	}
}

func BenchmarkOf(b *testing.B) {
	for _, dataType := range []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int64),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	} {
		b.Run(dataType.ID().String(), func(b *testing.B) {
			for b.Loop() {
				_, _ = layout.Of(dataType)
			}
		})
	}
}
