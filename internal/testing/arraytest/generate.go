package arraytest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/float16"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// temperature is an extension type of int32.
type temperature struct{ arrow.ExtensionBase }

type temperatureArray struct{ array.ExtensionArrayBase }

// NewTemperature returns an extension type over any storage.
func NewTemperature(storage arrow.DataType) arrow.ExtensionType {
	return &temperature{arrow.ExtensionBase{Storage: storage}}
}

func (*temperature) ArrayType() reflect.Type { return reflect.TypeFor[temperatureArray]() }
func (*temperature) ExtensionName() string   { return "gpuframe.temperature" }
func (*temperature) Serialize() string       { return "" }

func (t *temperature) ExtensionEquals(other arrow.ExtensionType) bool {
	return other.ExtensionName() == t.ExtensionName() && arrow.TypeEqual(t.Storage, other.StorageType())
}

func (t *temperature) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	return NewTemperature(storage), nil
}

// Nulls selects how many elements of a generated array are null.
type Nulls int

// The kinds of validity of a generated array.
const (
	SomeNull Nulls = iota
	NoneNull
	AllNull
)

// Generator makes arrays of random contents. Their buffers are exactly as long as
// required, so that a read beyond them fails.
type Generator struct {
	*rand.Rand
	// Nulls selects how many elements are null.
	Nulls Nulls
	// Sliced gives arrays at every level an offset, and elements after the last.
	Sliced bool
}

// NewGenerator returns a generator that depends only on the seed.
func NewGenerator(seed uint64) *Generator { return &Generator{Rand: rand.New(rand.NewPCG(seed, 0))} }

// Array makes an array of n elements.
func (g *Generator) Array(t arrow.DataType, n int) arrow.Array {
	data := g.data(t, n)
	defer data.Release()
	return array.MakeFromData(data)
}

func (g *Generator) data(t arrow.DataType, n int) arrow.ArrayData {
	if !g.Sliced {
		return g.exact(t, n)
	}
	ahead, behind := g.IntN(12), g.IntN(12)
	data := g.exact(t, ahead+n+behind)
	defer data.Release()
	return array.NewSliceData(data, int64(ahead), int64(ahead+n))
}

func buffer(bytes []byte) *arrowmemory.Buffer { return arrowmemory.NewBufferBytes(bytes) }

// Random returns n bytes of any value.
func (g *Generator) Random(n int) []byte {
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(g.Uint32())
	}
	return bytes
}

func (g *Generator) validity(n int) (*arrowmemory.Buffer, int) {
	if g.Nulls == NoneNull || n == 0 {
		return nil, 0
	}
	bits := g.Random((n + 7) / 8)
	if g.Nulls == AllNull {
		clear(bits)
	}
	count := n - bitutil.CountSetBits(bits, 0, n)
	if g.IntN(3) == 0 {
		count = array.UnknownNullCount
	}
	return buffer(bits), count
}

// Append appends an integer of the given width in the byte order of the machine.
func Append(bytes []byte, width int, value int) []byte {
	switch width {
	case 1:
		return append(bytes, byte(value))
	case 2:
		return binary.NativeEndian.AppendUint16(bytes, uint16(value))
	case 4:
		return binary.NativeEndian.AppendUint32(bytes, uint32(value))
	}
	return binary.NativeEndian.AppendUint64(bytes, uint64(value))
}

// offsets makes n+1 offsets. The first may be above zero.
func (g *Generator) offsets(n, width int) (offsets []byte, total int) {
	if n == 0 && g.IntN(2) == 0 {
		return nil, 0
	}
	at := g.IntN(4)
	for range n {
		offsets = Append(offsets, width, at)
		at += g.IntN(5)
	}
	return Append(offsets, width, at), at
}

// exact makes an array of offset zero.
func (g *Generator) exact(t arrow.DataType, n int) arrow.ArrayData {
	if extension, ok := t.(arrow.ExtensionType); ok {
		storage := g.exact(extension.StorageType(), n)
		defer storage.Release()
		data := array.NewData(t, n, storage.Buffers(), storage.Children(), storage.NullN(), 0)
		data.SetDictionary(storage.Dictionary())
		return data
	}
	valid, count := g.validity(n)
	make := func(buffers []*arrowmemory.Buffer, children ...arrow.ArrayData) arrow.ArrayData {
		data := array.NewData(t, n, buffers, children, count, 0)
		release.Arrow(children)
		return data
	}
	two := func(values []byte) []*arrowmemory.Buffer { return []*arrowmemory.Buffer{valid, buffer(values)} }
	var bytes []byte
	switch t := t.(type) {
	case *arrow.NullType:
		count = n
		return make([]*arrowmemory.Buffer{nil})
	case *arrow.BooleanType:
		return make(two(g.Random((n + 7) / 8)))
	case *arrow.Float16Type:
		for range n {
			bytes = Append(bytes, 2, int(float16.New(float32(g.IntN(100))).Uint16()))
		}
		return make(two(bytes))
	case *arrow.Float32Type:
		for range n {
			bytes = Append(bytes, 4, int(math.Float32bits(g.Float32())))
		}
		return make(two(bytes))
	case *arrow.Float64Type:
		for range n {
			bytes = Append(bytes, 8, int(math.Float64bits(g.Float64())))
		}
		return make(two(bytes))
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		offsets, total := g.offsets(n, t.Layout().Buffers[1].ByteWidth)
		for range total {
			bytes = append(bytes, byte('a'+g.IntN(26)))
		}
		return make([]*arrowmemory.Buffer{valid, buffer(offsets), buffer(bytes)})
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return make(append([]*arrowmemory.Buffer{valid}, g.views(n)...))
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType:
		offsets, total := g.offsets(n, t.Layout().Buffers[1].ByteWidth)
		if mapType, ok := t.(*arrow.MapType); ok {
			return make(two(offsets), g.entries(mapType, total))
		}
		return make(two(offsets), g.data(t.(arrow.ListLikeType).Elem(), total))
	case *arrow.ListViewType, *arrow.LargeListViewType:
		width, sizes := t.Layout().Buffers[1].ByteWidth, []byte(nil)
		length := n + g.IntN(10)
		for range n {
			size := g.IntN(min(length, 5) + 1)
			bytes, sizes = Append(bytes, width, g.IntN(length-size+1)), Append(sizes, width, size)
		}
		return make(append(two(bytes), buffer(sizes)), g.data(t.(arrow.ListLikeType).Elem(), length))
	case *arrow.FixedSizeListType:
		return make([]*arrowmemory.Buffer{valid}, g.data(t.Elem(), n*int(t.Len())))
	case *arrow.StructType:
		var children []arrow.ArrayData
		for _, field := range t.Fields() {
			children = append(children, g.data(field.Type, n))
		}
		return make([]*arrowmemory.Buffer{valid}, children...)
	case arrow.UnionType:
		count = 0
		buffers, children := g.union(t, n)
		return make(buffers, children...)
	case *arrow.DictionaryType:
		width := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		values := g.data(t.ValueType, 1+g.IntN(20))
		defer values.Release()
		for range n {
			bytes = Append(bytes, width, g.IntN(values.Len()))
		}
		return array.NewDataWithDictionary(t, n, two(bytes), count, 0, values.(*array.Data))
	case *arrow.RunEndEncodedType:
		width, runs, end := t.RunEnds().(arrow.FixedWidthDataType).BitWidth()/8, 0, 0
		for end < n {
			end, runs = end+1+g.IntN(6), runs+1
			bytes = Append(bytes, width, end)
		}
		ends := array.NewData(t.RunEnds(), runs, []*arrowmemory.Buffer{nil, buffer(bytes)}, nil, 0, 0)
		count = 0
		return make([]*arrowmemory.Buffer{nil}, ends, g.data(t.Encoded(), runs))
	case arrow.FixedWidthDataType:
		return make(two(g.Random(n * t.BitWidth() / 8)))
	}
	panic(fmt.Sprintf("no way to generate %v", t))
}

// entries makes the entries of maps. No entry and no key is null.
func (g *Generator) entries(t *arrow.MapType, n int) arrow.ArrayData {
	keys := *g
	keys.Nulls = NoneNull
	children := []arrow.ArrayData{keys.data(t.KeyType(), n), g.data(t.ItemType(), n)}
	entries := array.NewData(t.Elem(), n, []*arrowmemory.Buffer{nil}, children, 0, 0)
	release.Arrow(children)
	return entries
}

func (g *Generator) views(n int) []*arrowmemory.Buffer {
	var views []byte
	data := [][]byte{nil, nil}
	for range n {
		text := strings.Repeat(string(rune('a'+g.IntN(26))), g.IntN(30))
		views = Append(views, 4, len(text))
		if len(text) <= 12 {
			views = append(views, (text + strings.Repeat("\x00", 12))[:12]...)
			continue
		}
		number := g.IntN(len(data))
		views = Append(Append(append(views, text[:4]...), 4, number), 4, len(data[number]))
		data[number] = append(data[number], text...)
	}
	return []*arrowmemory.Buffer{buffer(views), buffer(data[0]), buffer(data[1])}
}

func (g *Generator) union(t arrow.UnionType, n int) ([]*arrowmemory.Buffer, []arrow.ArrayData) {
	var ids, offsets []byte
	lengths := make([]int, len(t.Fields()))
	for range n {
		child := g.IntN(len(lengths))
		ids = Append(ids, 1, int(t.TypeCodes()[child]))
		offsets = Append(offsets, 4, lengths[child])
		lengths[child]++
	}
	buffers := []*arrowmemory.Buffer{nil, buffer(ids)}
	if t.Mode() == arrow.DenseMode {
		buffers = append(buffers, buffer(offsets))
	}
	var children []arrow.ArrayData
	for i, field := range t.Fields() {
		length := n
		if t.Mode() == arrow.DenseMode {
			length = lengths[i]
		}
		children = append(children, g.data(field.Type, length))
	}
	return buffers, children
}

// FlatTypes returns every type without children.
func FlatTypes() []arrow.DataType {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	types := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, number, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		&arrow.Decimal128Type{Precision: 30, Scale: 3}, &arrow.Decimal256Type{Precision: 60, Scale: 3},
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms,
		arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms,
		arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Duration_ns,
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
		text, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
		arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView,
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 0},
	}
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		types = append(types, &arrow.TimestampType{Unit: unit}, &arrow.TimestampType{Unit: unit, TimeZone: "Europe/Berlin"})
	}
	return types
}

// AllTypes returns every type of Arrow, and some nested ones.
func AllTypes() []arrow.DataType {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	fields := []arrow.Field{field("text", text), field("number", number), field("flag", arrow.FixedWidthTypes.Boolean)}
	codes := []arrow.UnionTypeCode{5, 0, 127}
	pair := arrow.StructOf(field("text", text), field("list", arrow.ListOf(number)))
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: text}
	return append(FlatTypes(),
		arrow.ListOf(number), arrow.LargeListOf(text), arrow.FixedSizeListOf(3, number),
		arrow.ListViewOf(text), arrow.LargeListViewOf(number), arrow.MapOf(text, number),
		arrow.StructOf(fields...), arrow.StructOf(),
		arrow.SparseUnionOf(fields, codes), arrow.DenseUnionOf(fields, codes),
		dictionary,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.PrimitiveTypes.Int64},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.Binary},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: pair},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, text),
		arrow.RunEndEncodedOf(number, arrow.PrimitiveTypes.Float64),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int64, arrow.ListOf(number)),
		NewTemperature(number), NewTemperature(text), NewTemperature(dictionary), NewTemperature(arrow.ListOf(text)),
		arrow.ListOf(pair), arrow.StructOf(field("dictionary", dictionary), field("null", arrow.Null)),
		arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(2, arrow.FixedSizeListOf(3, text)),
		arrow.ListOf(arrow.Null), arrow.ListOf(arrow.ListOf(arrow.ListOf(text))), arrow.ListOf(dictionary),
		arrow.ListOf(arrow.DenseUnionOf(fields, codes)), arrow.StructOf(field("union", arrow.SparseUnionOf(fields, codes))),
		arrow.ListOf(arrow.RunEndEncodedOf(number, text)), arrow.ListViewOf(pair), arrow.ListOf(arrow.BinaryTypes.StringView),
		arrow.StructOf(field("inner", arrow.StructOf(field("map", arrow.MapOf(text, pair))))),
		arrow.ListOf(NewTemperature(number)),
	)
}

// RegisterExtension registers the extension type of [AllTypes] with arrow-go, so that
// schemas that name it can be read. It may be called any number of times.
func RegisterExtension() error {
	err := arrow.RegisterExtensionType(NewTemperature(arrow.PrimitiveTypes.Int32))
	if arrow.GetExtensionType((*temperature)(nil).ExtensionName()) != nil {
		return nil
	}
	return err
}
