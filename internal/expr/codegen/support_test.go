package codegen_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// node makes a node.
func node(op exprtree.Op, t arrow.DataType, arguments ...*exprtree.Node) *exprtree.Node {
	return &exprtree.Node{Op: op, Type: t, Arguments: arguments}
}

func input(i int, t arrow.DataType) *exprtree.Node {
	return &exprtree.Node{Op: exprtree.Column, Type: t, Input: i}
}

func literal(t arrow.DataType, value any) *exprtree.Node {
	return &exprtree.Node{Op: exprtree.Literal, Type: t, Value: value}
}

// program makes a program with inputs of the types.
func program(types []arrow.DataType, outputs ...*exprtree.Node) *exprtree.Program {
	inputs := make([]int, len(types))
	for i := range inputs {
		inputs[i] = i
	}
	return exprtree.NewProgram(inputs, types, outputs)
}

// values are adversarial: extremes, special floats, small and arbitrary numbers.
type values struct{ *rand.Rand }

func newValues(seed uint64) values { return values{rand.New(rand.NewPCG(seed, 7))} }

var floats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 1e-310, 5e-324, -5e-324, 1e300, -1e300,
	math.MaxFloat64, math.MaxFloat32, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxInt32, math.MinInt32, 1 << 31, 1 << 63, -1 << 63,
	127, 128, -128, -129, 255, 256, 65535, 1e9, math.Pi, 1 << 53, 0.1, 1e10, -1e10}

func (v values) float() float64 {
	switch v.IntN(4) {
	case 0:
		return floats[v.IntN(len(floats))]
	case 1:
		return math.Float64frombits(v.Uint64())
	}
	return math.Round(v.NormFloat64()*1000) / 64
}

func (v values) integer(bits int) uint64 {
	switch v.IntN(5) {
	case 0:
		return []uint64{0, 1, math.MaxUint64, 1 << (bits - 1), 1<<(bits-1) - 1, 1<<(bits-1) + 1, 7}[v.IntN(7)]
	case 1:
		return v.Uint64()
	case 2:
		return uint64(v.IntN(64)) - 8
	}
	return uint64(v.IntN(2000)) - 1000
}

var words = []string{"", "a", "ab", "delay", "delays", "delayed", "delaye", "12345678", "123456789", "1234567", "Zürich", "x\x00", "x",
	"a somewhat longer string than the others", "a somewhat longer string than the other", "abcdefghijklmnop"}

func (v values) decimal(precision int32) decimal128.Num {
	digits := v.IntN(int(precision) + 1)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n := new(big.Int).SetUint64(v.Uint64())
	n.Mul(n, new(big.Int).SetUint64(v.Uint64())).Mod(n, limit)
	if v.IntN(6) == 0 {
		n.Sub(limit, big.NewInt(1))
	}
	if v.IntN(2) == 0 {
		n.Neg(n)
	}
	return decimal128.FromBigInt(n)
}

// array makes n values, about one in nullEvery null, or none.
func (v values) array(t testing.TB, dt arrow.DataType, n, nullEvery int) arrow.Array {
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		entries := v.array(t, dictionary.ValueType, 9, 0)
		codes := array.NewInt8Builder(arrowmemory.DefaultAllocator)
		for range n {
			if nullEvery > 0 && v.IntN(nullEvery) == 0 {
				codes.AppendNull()
			} else {
				codes.Append(int8(v.IntN(9)))
			}
		}
		return array.NewDictionaryArray(dt, codes.NewArray(), entries)
	}
	b := array.NewBuilder(arrowmemory.DefaultAllocator, dt)
	for range n {
		if nullEvery > 0 && v.IntN(nullEvery) == 0 {
			b.AppendNull()
			continue
		}
		v.add(t, b)
	}
	return b.NewArray()
}

func (v values) add(t testing.TB, b array.Builder) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.IntN(2) == 0)
	case *array.Int8Builder:
		b.Append(int8(v.integer(8)))
	case *array.Int16Builder:
		b.Append(int16(v.integer(16)))
	case *array.Int32Builder:
		b.Append(int32(v.integer(32)))
	case *array.Int64Builder:
		b.Append(int64(v.integer(64)))
	case *array.Uint8Builder:
		b.Append(uint8(v.integer(8)))
	case *array.Uint16Builder:
		b.Append(uint16(v.integer(16)))
	case *array.Uint32Builder:
		b.Append(uint32(v.integer(32)))
	case *array.Uint64Builder:
		b.Append(v.integer(64))
	case *array.Float32Builder:
		b.Append(float32(v.float()))
	case *array.Float64Builder:
		b.Append(v.float())
	case *array.Date32Builder:
		b.Append(arrow.Date32(int32(v.integer(32))))
	case *array.Date64Builder:
		b.Append(arrow.Date64(int64(v.integer(64)) / 86_400_000 * 86_400_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.integer(64) * uint64(1+v.IntN(1e9))))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(v.integer(64)))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v.IntN(86_400)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.Int64N(86_400_000_000)))
	case *array.Decimal128Builder:
		b.Append(v.decimal(b.Type().(*arrow.Decimal128Type).Precision))
	case *array.StringBuilder:
		b.Append(words[v.IntN(len(words))])
	case *array.LargeStringBuilder:
		b.Append(words[v.IntN(len(words))])
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte{byte(v.IntN(2)), 1, 2, 3, 4, byte(v.IntN(2)), 6, 7, 8, 9, 10}[:b.Type().(*arrow.FixedSizeBinaryType).ByteWidth])
	default:
		require.FailNow(t, "no values", "%T", b)
	}
}

// eachGPU runs f on the emulator and on the GPU, if the machine has one.
func eachGPU(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		f(t, dev)
	})
}

// upload copies arrays to the device and slices them from the offset.
func upload(t testing.TB, mgr *memory.Manager, arrays []arrow.Array, offset int) (columns []*column.Column) {
	t.Helper()
	for _, a := range arrays {
		whole, err := column.FromArray(context.Background(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		c, err := whole.Slice(offset, a.Len()-offset)
		require.NoError(t, err)
		require.NoError(t, whole.Release())
		columns = append(columns, c)
	}
	return columns
}

func release(t testing.TB, columns []*column.Column) {
	t.Helper()
	for _, c := range columns {
		require.NoError(t, c.Release())
	}
}

// compute runs a program on columns and fetches the results. The kernels for few and
// for many rows must give the same results.
func compute(t *testing.T, mgr *memory.Manager, p *exprtree.Program, columns []*column.Column, rows memory.Slice[int64]) (results []arrow.Array) {
	t.Helper()
	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr}, columns...)
	require.NoError(t, err)
	got, err := codegen.Run(call, p, columns, rows, columns[0].Len())
	require.NoError(t, err)
	for _, c := range got {
		a, err := c.Array(t.Context())
		require.NoError(t, err)
		results = append(results, a)
	}
	release(t, got)
	agree(t, call, p, columns, rows, results)
	return results
}

// run runs a program on whole arrays.
func run(t *testing.T, mgr *memory.Manager, p *exprtree.Program, arrays []arrow.Array) []arrow.Array {
	t.Helper()
	columns := upload(t, mgr, arrays, 0)
	defer release(t, columns)
	return compute(t, mgr, p, columns, memory.Slice[int64]{})
}

// check runs a program on arrays, from an offset, and compares with the host.
func check(t *testing.T, mgr *memory.Manager, p *exprtree.Program, arrays []arrow.Array, offset int) {
	t.Helper()
	columns := upload(t, mgr, arrays, offset)
	defer release(t, columns)
	var sliced []arrow.Array
	for _, a := range arrays {
		sliced = append(sliced, array.NewSlice(a, int64(offset), int64(a.Len())))
	}
	want, err := hosteval.Evaluate(t.Context(), p, sliced, columns[0].Len())
	require.NoError(t, err)
	for i, got := range compute(t, mgr, p, columns, memory.Slice[int64]{}) {
		compare(t, p.Outputs[i], sliced, want[i], got)
	}
}

func compare(t *testing.T, n *exprtree.Node, inputs []arrow.Array, want, got arrow.Array) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len())
	require.True(t, arrow.TypeEqual(want.DataType(), got.DataType()), "%v and %v", want.DataType(), got.DataType())
	if array.Equal(want, got) {
		return // much faster than by rows, but NaN is not equal to NaN
	}
	for i := range want.Len() {
		if want.IsNull(i) == got.IsNull(i) && (want.IsNull(i) || same(want, got, i)) {
			continue
		}
		var operands []string
		for _, input := range inputs {
			operands = append(operands, input.ValueStr(i))
		}
		require.FailNowf(t, n.Op.String(), "%v of %v in row %d: %v is %s, not %s", n.Op, n.Arguments[0].Type, i, operands, got.ValueStr(i), want.ValueStr(i))
	}
}

// same compares floats by their bits and treats all NaN as equal.
func same(want, got arrow.Array, i int) bool {
	switch want := want.(type) {
	case *array.Float32:
		x, y := want.Value(i), got.(*array.Float32).Value(i)
		return x != x && y != y || math.Float32bits(x) == math.Float32bits(y)
	case *array.Float64:
		x, y := want.Value(i), got.(*array.Float64).Value(i)
		return x != x && y != y || math.Float64bits(x) == math.Float64bits(y)
	}
	return array.SliceEqual(want, int64(i), int64(i+1), got, int64(i), int64(i+1))
}
