package join_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// keyKind is a pair of types of keys, and values that both or one of them have.
type keyKind struct {
	left, right arrow.DataType
	// values are the texts of the values. The first text of each is the value's identity
	// for the model, the others are the texts of the left and of the right type. An
	// empty text is a value that the type does not have.
	values [][3]string
}

// same returns values with the same text in both types.
func same(texts ...string) (values [][3]string) {
	for _, text := range texts {
		values = append(values, [3]string{text, text, text})
	}
	return values
}

var (
	str        = arrow.BinaryTypes.String
	dictionary = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}
	wideCodes  = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: str}
	words      = same("", "a", "b", "ab", "a longer text than eight bytes", "a longer text than eight byteS")
	floatTexts = append(same("NaN", "1.5", "-2", "+Inf"), [3]string{"0", "-0", "0"}, [3]string{"0", "0", "-0"})
)

// keyKinds are the keys of the tests: lists of pairs.
var keyKinds = map[string][]keyKind{
	"int32":        {{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32, same("0", "1", "-1", "7", "2147483647")}},
	"int64":        {{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, same("0", "1", "-1", "9223372036854775807", "-9223372036854775808")}},
	"widths":       {{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint32, append(same("0", "1", "5"), [3]string{"-1", "-1", ""}, [3]string{"255", "", "255"})}},
	"signs":        {{arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64, append(same("0", "1"), [3]string{"-1", "", "-1"}, [3]string{"max", "18446744073709551615", ""})}},
	"bool":         {{arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Boolean, same("true", "false")}},
	"float64":      {{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, floatTexts}},
	"floats":       {{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, append([][3]string{{"0.1", "", "0.1"}}, floatTexts...)}},
	"utf8":         {{str, str, words}},
	"offsets":      {{str, arrow.BinaryTypes.LargeString, words}},
	"dictionaries": {{dictionary, dictionary, words}},
	"encoded":      {{dictionary, str, words}},
	"codes":        {{dictionary, wideCodes, words}},
	"date":         {{arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, same("2020-01-02", "1969-12-31")}},
	"units": {{arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_us, append(
		same("2020-01-02 03:04:05", "1969-12-31 00:00:00"), [3]string{"x", "", "2020-01-02 03:04:05.000001"})}},
	"decimals": {{&arrow.Decimal128Type{Precision: 10, Scale: 1}, &arrow.Decimal128Type{Precision: 12, Scale: 3},
		append(same("1.5", "-2"), [3]string{"x", "", "1.501"})}},
	"fixed": {{&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 3}, same("abcd", "abce", "zzzz")}},
	"two integers": {
		{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32, same("0", "1", "2")},
		{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int16, same("0", "-1")},
	},
	"mixed": {
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, same("0", "1")},
		{str, dictionary, same("", "x")},
		{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, same("1", "NaN")},
	},
}

// side is a table and what the model
type side struct {
	// keys has the identities of the keys of each row; "null" is a null.
	keys [][]string
	// value is a payload, nil for null.
	value []*int32
	table *buffer.Buffer
	// random is the source that drew the table.
	random *rand.Rand
}

const null = "null"

// drawSide draws a table of rows: the keys k0, k1, …, the payload v, and a payload with
// another name.
func drawSide(t *testing.T, mgr *memory.Manager, r *rand.Rand, kinds []keyKind, right bool, rows int, nulls float64, own string) *side {
	t.Helper()
	s := &side{random: r, keys: make([][]string, rows), value: make([]*int32, rows)}
	var fields []arrow.Field
	var arrays []arrow.Array
	// ahead are rows before the first one, so that arrays are slices.
	ahead := r.IntN(10)
	for i, kind := range kinds {
		of, text := kind.left, 1
		if right {
			of, text = kind.right, 2
		}
		builder := array.NewBuilder(arrowmemory.DefaultAllocator, of)
		defer builder.Release()
		for row := range ahead + rows {
			identity := null
			if r.Float64() >= nulls {
				value := kind.values[r.IntN(len(kind.values))]
				for value[text] == "" && value[0] != "" {
					value = kind.values[r.IntN(len(kind.values))]
				}
				identity = value[0]
				require.NoError(t, builder.AppendValueFromString(value[text]))
			} else {
				builder.AppendNull()
			}
			if row >= ahead {
				s.keys[row-ahead] = append(s.keys[row-ahead], identity)
			}
		}
		fields, arrays = append(fields, arrow.Field{Name: fmt.Sprint("k", i), Type: of, Nullable: true}), append(arrays, sliced(builder, ahead))
	}
	for _, name := range []string{"v", own} {
		builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
		defer builder.Release()
		for row := range ahead + rows {
			x := int32(r.IntN(6))
			isNull := r.IntN(6) == 0
			if isNull {
				builder.AppendNull()
			} else {
				builder.Append(x)
			}
			if row >= ahead && name == "v" && !isNull {
				s.value[row-ahead] = &x
			}
		}
		fields, arrays = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32, Nullable: true}), append(arrays, sliced(builder, ahead))
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
	defer record.Release()
	for _, a := range arrays {
		a.Release()
	}
	var err error
	s.table, err = buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.table.Release()) })
	return s
}

func sliced(builder array.Builder, ahead int) arrow.Array {
	whole := builder.NewArray()
	defer whole.Release()
	return array.NewSlice(whole, int64(ahead), int64(whole.Len()))
}

// pair is a row of a result: rows of both sides, or −1.
type pair struct{ left, right int }

// matches reports whether rows match by their keys and the condition.
func matches(a, b *side, left, right int, o join.Options) bool {
	if o.Kind != join.Cross {
		for i, key := range a.keys[left] {
			if key != b.keys[right][i] || key == null && !o.NullsEqual {
				return false
			}
		}
	}
	if o.Where.IsZero() {
		return true
	}
	x, y := a.value[left], b.value[right]
	return x != nil && y != nil && *x < *y
}

// model joins with two nested loops. Pairs are in the order of the left side, or with
// byRight of the right side.
func model(a, b *side, o join.Options, byRight bool) (pairs []pair) {
	outer, inner := len(a.keys), len(b.keys)
	if byRight {
		outer, inner = inner, outer
	}
	keepsOuter := o.Kind == join.Full || o.Kind == join.Left && !byRight || o.Kind == join.Right && byRight
	keepsInner := o.Kind == join.Full || o.Kind == join.Right && !byRight || o.Kind == join.Left && byRight
	matched := make([]bool, inner)
	add := func(i, j int) {
		if byRight {
			i, j = j, i
		}
		pairs = append(pairs, pair{i, j})
	}
	for i := range outer {
		found := false
		for j := range inner {
			left, right := i, j
			if byRight {
				left, right = j, i
			}
			if !matches(a, b, left, right, o) {
				continue
			}
			if !found && o.Kind == join.Semi {
				add(i, -1)
			}
			found, matched[j] = true, true
			if o.Kind != join.Semi && o.Kind != join.Anti {
				add(i, j)
			}
		}
		if !found && (keepsOuter || o.Kind == join.Anti) {
			add(i, -1)
		}
	}
	for j := range inner {
		if keepsInner && !matched[j] {
			add(-1, j)
		}
	}
	return pairs
}
