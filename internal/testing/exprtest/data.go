package exprtest

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// Values makes arrays of ordinary values and of values at which operations tend to
// fail. The values under nulls are random.
type Values struct {
	*rand.Rand
	// Sliced gives arrays an offset, and elements after the last.
	Sliced bool
	// Nulls selects how many elements are null.
	Nulls arraytest.Nulls
}

// NewValues returns a generator of values that depend only on the seed.
func NewValues(seed uint64) *Values { return &Values{Rand: rand.New(rand.NewPCG(seed, 1))} }

// Array makes an array of n elements. The caller releases it.
func (v *Values) Array(t arrow.DataType, n int) arrow.Array {
	if !v.Sliced {
		return v.exact(t, n)
	}
	ahead, behind := v.IntN(70), v.IntN(5)
	whole := v.exact(t, ahead+n+behind)
	defer whole.Release()
	return array.NewSlice(whole, int64(ahead), int64(ahead+n))
}

func (v *Values) exact(t arrow.DataType, n int) arrow.Array {
	if exprtree.KindOf(t) == exprtree.Other {
		g := arraytest.NewGenerator(v.Uint64())
		g.Nulls = v.Nulls
		return g.Array(t, n)
	}
	valid, nulls := v.validity(n)
	var data *array.Data
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return v.dictionary(t, n, valid, nulls)
	case *arrow.FixedSizeBinaryType:
		var bytes []byte
		for range n {
			bytes = append(bytes, v.text(t.ByteWidth)...)
		}
		data = v.data(t, n, nulls, valid, arrowmemory.NewBufferBytes(bytes))
	case *arrow.StringType, *arrow.BinaryType:
		data = v.texts(t, n, nulls, valid, 4)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		data = v.texts(t, n, nulls, valid, 8)
	case *arrow.BooleanType:
		bytes := make([]byte, (n+7)/8)
		for i := range bytes {
			bytes[i] = byte(v.Uint32())
		}
		data = v.data(t, n, nulls, valid, arrowmemory.NewBufferBytes(bytes))
	default:
		var bytes []byte
		for range n {
			bytes = v.appendFixed(bytes, t)
		}
		data = v.data(t, n, nulls, valid, arrowmemory.NewBufferBytes(bytes))
	}
	defer data.Release()
	return array.MakeFromData(data)
}

func (v *Values) data(t arrow.DataType, n, nulls int, buffers ...*arrowmemory.Buffer) *array.Data {
	return array.NewData(t, n, buffers, nil, nulls, 0)
}

func (v *Values) validity(n int) (*arrowmemory.Buffer, int) {
	if n == 0 || v.Nulls == arraytest.NoneNull {
		return nil, 0
	}
	bytes := make([]byte, (n+7)/8)
	if v.Nulls == arraytest.SomeNull {
		for i := range bytes {
			bytes[i] = byte(v.Uint32())
			if v.IntN(3) > 0 {
				bytes[i] |= byte(v.Uint32())
			}
		}
	}
	return arrowmemory.NewBufferBytes(bytes), array.UnknownNullCount
}

func (v *Values) appendFixed(bytes []byte, t arrow.DataType) []byte {
	switch exprtree.KindOf(t) {
	case exprtree.Float32:
		return binary.LittleEndian.AppendUint32(bytes, math.Float32bits(float32(v.Float())))
	case exprtree.Float64:
		return binary.LittleEndian.AppendUint64(bytes, math.Float64bits(v.Float()))
	case exprtree.Decimal:
		d := v.Decimal(t.(*arrow.Decimal128Type))
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(bytes, d.LowBits()), uint64(d.HighBits()))
	}
	x := v.Integer(exprtree.KindOf(t))
	if t.ID() == arrow.TIME32 || t.ID() == arrow.TIME64 {
		x %= uint64(86_400 * exprtree.UnitOf(t))
	}
	switch exprtree.KindOf(t).Bits() {
	case 8:
		return append(bytes, byte(x))
	case 16:
		return binary.LittleEndian.AppendUint16(bytes, uint16(x))
	case 32:
		return binary.LittleEndian.AppendUint32(bytes, uint32(x))
	}
	return binary.LittleEndian.AppendUint64(bytes, x)
}

// Integer returns the low bits of a value of an integer kind.
func (v *Values) Integer(kind exprtree.Kind) uint64 {
	bits := kind.Bits()
	switch v.IntN(8) {
	case 0: // the extremes of both signs
		return 1<<(bits-1) - uint64(v.IntN(3)) + 1
	case 1:
		return uint64(v.IntN(3)) - 1
	case 2:
		return v.Uint64()
	case 3: // of any magnitude
		return uint64(int64(v.Uint64()) >> v.IntN(64))
	case 4:
		return uint64(v.IntN(2*bits) - bits/2) // shifts
	}
	return uint64(v.IntN(200) - 100)
}

var specialFloats = []float64{
	0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5,
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64,
	1 << 31, 1 << 32, 1 << 53, 1<<53 + 2, 1 << 63, -(1 << 63), 1 << 64, 127, 128, -128, -129, 255.5, 256, 1e38, -1e38, 16777217, 0.1,
	1e-310, 4503599627370497.5, math.Pi, 1e19,
	-700.5, -708.5, -740.25, -745.2, -746, 709.75, 710, 88.7, 88.8, -87.5, -103.9, 1e22, 1e300, 2e-308,
}

// Float returns a value that float64 can represent.
func (v *Values) Float() float64 {
	switch v.IntN(4) {
	case 0:
		return specialFloats[v.IntN(len(specialFloats))]
	case 1:
		return math.Float64frombits(v.Uint64())
	case 2:
		return float64(v.IntN(200)-100) / 4
	}
	return (v.Float64() - 0.5) * math.Ldexp(1, v.IntN(70))
}

// Decimal returns a value of the type's precision.
func (v *Values) Decimal(t *arrow.Decimal128Type) decimal128.Num {
	limit := powerOfTen(t.Precision)
	var x *big.Int
	switch v.IntN(4) {
	case 0:
		x = new(big.Int).Sub(limit, big.NewInt(1+int64(v.IntN(2))))
	case 1:
		x = big.NewInt(int64(v.IntN(5)))
	default:
		x = new(big.Int).Lsh(new(big.Int).SetUint64(v.Uint64()), 64)
		x.Or(x, new(big.Int).SetUint64(v.Uint64()))
		x.Rsh(x, uint(v.IntN(126)))
	}
	x.Mod(x, limit)
	if v.IntN(2) == 0 {
		x.Neg(x)
	}
	return decimal128.FromBigInt(x)
}

// texts are few, so that values are often equal.
var texts = []string{"", "a", "ab", "abc", "b", "aba", "abcdefgh", "abcdefghi", "ä€", "abcdefghabcdefghabc", "\x00", "abc\x00",
	" a b\u00a0\u2003", "\t\u3000", "äbc€", "\x80\xffa\xe2\x80", "abcdefgabcdefgh",
	"0", "-17", "+9223372036854775807", "18446744073709551615", "9223372036854775808", "-", "2024-02-29", "2023-02-29", "1969-12-31", "true"}

// text returns a string, of exactly width bytes unless that is negative.
func (v *Values) text(width int) string {
	word := texts[v.IntN(len(texts))]
	if width < 0 {
		return word
	}
	for len(word) < width {
		word += "a"
	}
	return word[:width]
}

func (v *Values) texts(t arrow.DataType, n, nulls int, valid *arrowmemory.Buffer, width int) *array.Data {
	var offsets, bytes []byte
	for i := range n + 1 {
		if width == 4 {
			offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(bytes)))
		} else {
			offsets = binary.LittleEndian.AppendUint64(offsets, uint64(len(bytes)))
		}
		if i < n {
			bytes = append(bytes, v.text(-1)...)
		}
	}
	return v.data(t, n, nulls, valid, arrowmemory.NewBufferBytes(offsets), arrowmemory.NewBufferBytes(bytes))
}

func (v *Values) dictionary(t *arrow.DictionaryType, n int, valid *arrowmemory.Buffer, nulls int) arrow.Array {
	size := 1 + v.IntN(20)
	values := v.exact(t.ValueType, size)
	defer values.Release()
	var indices []byte
	for range n {
		index := uint64(v.IntN(size))
		switch exprtree.KindOf(t.IndexType).Bits() {
		case 8:
			indices = append(indices, byte(index))
		case 16:
			indices = binary.LittleEndian.AppendUint16(indices, uint16(index))
		case 32:
			indices = binary.LittleEndian.AppendUint32(indices, uint32(index))
		default:
			indices = binary.LittleEndian.AppendUint64(indices, index)
		}
	}
	data := array.NewDataWithDictionary(t, n, []*arrowmemory.Buffer{valid, arrowmemory.NewBufferBytes(indices)}, nulls, 0, values.Data().(*array.Data))
	defer data.Release()
	return array.MakeFromData(data)
}
