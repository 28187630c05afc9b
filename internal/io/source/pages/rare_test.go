package pages_test

import (
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// bigEndian returns a number in the fewest bytes, or more, in two's complement.
func bigEndian(v *big.Int, width int) []byte {
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	return v.FillBytes(make([]byte, width))
}

// Decimals of any number of bytes are those of a model: arrow-go v17 loses the sign of some of 256 bits.
func TestDecoderOfDecimals(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		most := rapid.SampledFrom([]int{16, 32}).Draw(r, "bytes of a value")
		fixed := rapid.Bool().Draw(r, "one width")
		width := rapid.IntRange(1, most).Draw(r, "width")
		about := pages.Flat{Physical: parquetformat.ByteArray, Type: &arrow.Decimal128Type{Precision: 38}}
		if most == 32 {
			about.Type = &arrow.Decimal256Type{Precision: 76}
		}
		if fixed {
			about.Physical, about.Width = parquetformat.FixedLenByteArray, width
		}
		var body []byte
		var want []*big.Int
		for range rapid.IntRange(1, 40).Draw(r, "values") {
			if !fixed {
				width = rapid.IntRange(1, most).Draw(r, "width")
				body = binary.LittleEndian.AppendUint32(body, uint32(width))
			}
			value := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), width, width).Draw(r, "bytes"))
			value.Sub(value, new(big.Int).Lsh(big.NewInt(1), uint(8*width-1)))
			want, body = append(want, value), append(body, bigEndian(value, width)...)
		}
		about.Values = int64(len(want))
		data := pagestest.Page{Body: body, Values: len(want), Uncompressed: int64(len(body))}.Bytes()
		got, err := decodedIn(r, data, about, rapid.Int64Range(1, 40).Draw(r, "rows at a time"))
		require.NoError(r, err)
		for i, value := range want {
			if most == 16 {
				require.Equal(r, value.String(), got.(*array.Decimal128).Value(i).BigInt().String())
			} else {
				require.Equal(r, value.String(), got.(*array.Decimal256).Value(i).BigInt().String())
			}
		}
	})
	about := pages.Flat{Column: pages.Column{Values: 1}, Physical: parquetformat.ByteArray, Type: &arrow.Decimal128Type{Precision: 38}}
	for _, body := range [][]byte{{0, 0, 0, 0}, append([]byte{17, 0, 0, 0}, make([]byte, 17)...), {9, 0, 0, 0, 1}} {
		_, err := decoded(t, pagestest.Page{Body: body, Values: 1, Uncompressed: int64(len(body))}.Bytes(), about, 1)
		require.ErrorIs(t, err, pages.ErrDamaged)
	}
}

// Values of any number of bytes are decoded as they are, those of the null type as nulls.
func TestDecoderOfBytes(t *testing.T) {
	body := []byte("abcdefghijkl")
	about := pages.Flat{Column: pages.Column{Values: 4}, Physical: parquetformat.FixedLenByteArray, Width: 3, Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}}
	data := pagestest.Page{Body: body, Values: 4, Uncompressed: 12}.Bytes()
	got, err := decoded(t, data, about, 3)
	require.NoError(t, err)
	require.Equal(t, "jkl", string(got.(*array.FixedSizeBinary).Value(3)))
	about.Type = arrow.Null
	got, err = decoded(t, data, about, 3)
	require.NoError(t, err)
	require.Equal(t, 4, got.NullN())
	about.Type, about.Values = &arrow.FixedSizeBinaryType{ByteWidth: 3}, 5
	_, err = decoded(t, pagestest.Page{Body: body, Values: 5, Uncompressed: 12}.Bytes(), about, 5)
	require.ErrorIs(t, err, pages.ErrDamaged)
}

// entries is a leaf of int64 in one page, with levels of the given encoding and the numbers from 0 on as values.
func entries(leaf *pages.Nested, encoding int, repetitions, definitions []byte) pages.LeafChunk {
	levels := func(list []byte, most int) []byte {
		width := new(big.Int).SetInt64(int64(most)).BitLen()
		if encoding == pages.BitPacked { // from the most significant bit
			all := new(big.Int)
			for _, level := range list {
				all.Or(all.Lsh(all, uint(width)), big.NewInt(int64(level)))
			}
			bytes := (len(list)*width + 7) / 8
			return all.Lsh(all, uint(8*bytes-len(list)*width)).FillBytes(make([]byte, bytes))
		}
		var runs []byte
		for _, level := range list {
			runs = append(runs, 2, level)
		}
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
	}
	var body []byte
	if leaf.Depth > 0 {
		body = levels(repetitions, leaf.Depth)
	}
	body = append(body, levels(definitions, leaf.Definition)...)
	value := uint64(0)
	for _, level := range definitions {
		if int(level) == leaf.Definition {
			body = binary.LittleEndian.AppendUint64(body, value)
			value++
		}
	}
	return pages.LeafChunk{
		Data: pagestest.Page{Body: body, Values: len(definitions), Uncompressed: int64(len(body)), Levels: encoding}.Bytes(),
		About: pages.Flat{
			Column:   pages.Column{Values: int64(len(definitions)), MaxDefinition: int16(leaf.Definition), MaxRepetition: int16(leaf.Depth)},
			Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64,
		},
	}
}

// Levels that no list has are an error, those of older files are read, and lists of a fixed size have elements where they are null.
func TestLevels(t *testing.T) {
	integers := arrow.PrimitiveTypes.Int64
	first := &pages.Nested{Type: integers, Nullable: true, Definition: 4, Depth: 1, Leaf: 0}
	second := &pages.Nested{Type: integers, Nullable: true, Definition: 4, Depth: 1, Leaf: 1}
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: integers, Nullable: true}, arrow.Field{Name: "b", Type: integers, Nullable: true})
	element := &pages.Nested{Type: pair, Nullable: true, Definition: 3, Depth: 1, Leaf: -1, Children: []*pages.Nested{first, second}}
	list := &pages.Nested{Type: arrow.ListOf(pair), Nullable: true, Definition: 1, Element: 2, Leaf: -1, Children: []*pages.Nested{element}}
	decode := func(tree *pages.Nested, leaves ...pages.LeafChunk) (string, error) {
		got, err := nestedFile{tree: tree, leaves: leaves, rows: 4}.decode(t, func() int64 { return 3 })
		if err != nil {
			return "", err
		}
		return textOf(t, got), nil
	}
	repetitions, definitions := []byte{0, 1, 0, 0, 0, 1}, []byte{4, 3, 0, 1, 2, 4}
	for _, encoding := range []int{pages.RLE, pages.BitPacked} {
		text, err := decode(list, entries(first, encoding, repetitions, definitions), entries(second, pages.RLE, repetitions, definitions))
		require.NoError(t, err)
		require.JSONEq(t, `[[{"a":0,"b":0},{"a":null,"b":null}],null,[],[null,{"a":1,"b":1}]]`, text)
	}
	right := entries(second, pages.RLE, repetitions, definitions)
	for name, leaf := range property.InOrder(map[string]pages.LeafChunk{
		"a definition level above": entries(first, pages.RLE, repetitions, []byte{5, 3, 0, 1, 2, 4}),
		"a repetition level above": entries(first, pages.RLE, []byte{0, 3, 0, 0, 0, 1}, definitions),
		"no first row":             entries(first, pages.RLE, []byte{1, 1, 0, 0, 0, 1}, definitions),
		"an empty list goes on":    entries(first, pages.RLE, []byte{0, 1, 0, 0, 1, 1}, definitions),
		"a null list goes on":      entries(first, pages.RLE, []byte{0, 1, 1, 0, 0, 1}, definitions),
		"more rows":                entries(first, pages.RLE, []byte{0, 0, 0, 0, 0, 1}, definitions),
		"fewer rows":               entries(first, pages.RLE, repetitions[:4], definitions[:4]),
		"another element":          entries(first, pages.RLE, repetitions[:5], definitions[:5]),
		"no levels":                entries(first, pages.RLE, nil, definitions),
		"no packed levels":         {Data: pagestest.Page{Values: 6, Levels: pages.BitPacked}.Bytes(), About: right.About},
	}) {
		_, err := decode(list, leaf, right)
		require.ErrorIs(t, err, pages.ErrDamaged, name)
	}
	_, err := decode(list, right)
	require.ErrorIs(t, err, pages.ErrOther)
	_, err = decode(list, entries(first, pages.DeltaByteArray, repetitions, definitions), right)
	require.ErrorIs(t, err, pages.ErrOther)

	number := &pages.Nested{Type: integers, Nullable: true, Definition: 3, Depth: 1, Leaf: 0}
	fixed := &pages.Nested{Type: arrow.FixedSizeListOf(2, integers), Nullable: true, Definition: 1, Element: 2, Leaf: -1, Children: []*pages.Nested{number}}
	text, err := decode(fixed, entries(number, pages.RLE, []byte{0, 1, 0, 0, 1, 0}, []byte{3, 2, 0, 3, 3, 0}))
	require.NoError(t, err)
	require.JSONEq(t, `[[0,null],null,[1,2],null]`, text)
	_, err = decode(fixed, entries(number, pages.RLE, []byte{0, 1, 0, 0, 1, 0}, []byte{3, 2, 0, 3, 3, 3}))
	require.ErrorIs(t, err, pages.ErrDamaged)
}

// FuzzNestedDecoder: any bytes of a leaf give an error or as many rows as there are, no panic, and no memory stays in use.
func FuzzNestedDecoder(f *testing.F) {
	leaf := &pages.Nested{Type: arrow.PrimitiveTypes.Int64, Nullable: true, Definition: 3, Depth: 1, Leaf: 0}
	list := &pages.Nested{Type: arrow.ListOf(leaf.Type), Nullable: true, Definition: 1, Element: 2, Leaf: -1, Children: []*pages.Nested{leaf}}
	seed := entries(leaf, pages.RLE, []byte{0, 1, 0, 0, 1, 0}, []byte{3, 2, 0, 3, 3, 1})
	f.Add(seed.Data)
	f.Add(entries(leaf, pages.BitPacked, []byte{0, 1, 0, 0, 1, 0}, []byte{3, 2, 0, 3, 3, 1}).Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		mem := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		d, err := pages.NewNestedDecoder(list, []pages.LeafChunk{{Data: data, About: seed.About}}, 4, mem)
		if err != nil {
			return
		}
		defer d.Close()
		got, err := d.Next(4)
		if err != nil {
			return
		}
		defer got.Release()
		require.Equal(t, 4, got.Len())
	})
}
