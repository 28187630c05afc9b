package text_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// tagged is an extension type over another type.
type tagged struct{ arrow.ExtensionBase }

type taggedArray struct{ array.ExtensionArrayBase }

func (*tagged) ArrayType() reflect.Type { return reflect.TypeOf(taggedArray{}) }
func (*tagged) ExtensionName() string   { return "test.tagged" }
func (t *tagged) ExtensionEquals(o arrow.ExtensionType) bool {
	return t.ExtensionName() == o.ExtensionName()
}
func (*tagged) Serialize() string { return "" }
func (*tagged) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	return &tagged{arrow.ExtensionBase{Storage: storage}}, nil
}

// onEach returns the texts of an expression of the column "text" of some values, once for each device.
func onEach(t *testing.T, values arrow.Array, e expr.Expr, want ...string) {
	defer values.Release()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c, _ := columntest.UploadRows(t, mgr, values, 0, values.Len())
		got := evaluate(t, c, e)
		defer got.Release()
		for i, text := range want {
			require.Equal(t, text, got.ValueStr(i))
		}
	})
}

func numbersOf[T any](values ...T) arrow.Array {
	switch values := any(values).(type) {
	case []int64:
		b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(values, nil)
		return b.NewArray()
	case []int32:
		b := array.NewInt32Builder(arrowmemory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(values, nil)
		return b.NewArray()
	default:
		b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(any(values).([]float64), nil)
		return b.NewArray()
	}
}

// The values of extension types are those of their storage.
func TestPrintfOfExtensions(t *testing.T) {
	in := expr.Col("text")
	numbers := make([]int64, 50_000) // of several goroutines
	numbers[0], numbers[1] = 7, -1
	for _, test := range []struct {
		e    expr.Expr
		want []string
	}{
		{text.Printf("%03d", in), []string{"007", "-01"}}, {text.Printf("%.1f", in), []string{"7.0", "-1.0"}}, {text.Printf("%s", in), []string{"7", "-1"}}, {text.Format("{:x}", in), []string{"7", "ffffffffffffffff"}},
	} {
		storage := numbersOf(numbers...)
		onEach(t, array.NewExtensionArrayWithStorage(&tagged{arrow.ExtensionBase{Storage: storage.DataType()}}, storage), test.e, test.want...)
		storage.Release()
	}
}

func TestPrintfOfNumbers(t *testing.T) {
	in := expr.Col("text")
	onEach(t, numbersOf[int32](-4, 10), text.Printf("%x|%X|%o|%+d", in, in, in, in), "fffffffc|FFFFFFFC|37777777774|-4", "a|A|12|+10")
	onEach(t, numbersOf(math.Inf(1), math.Inf(-1), math.NaN()), text.Printf("%5.1f|%-5e|%+g|% g|%E|%s|%06f", in, in, in, in, in, in, in),
		"  inf|inf  |+inf| inf|INF|inf|   inf", " -inf|-inf |-inf|-inf|-INF|-inf|  -inf", "  nan|nan  |+nan| nan|NAN|nan|   nan")
	onEach(t, numbersOf[int64](5), text.Format("{:4}|{:<4}|{:>4}|{:-4d}|", in, in, in, in), "   5|5   |   5|   5|")
}

// Text is at the left of {}, at the right of %s, and binaries are refused or make binaries.
func TestBinariesOfHost(t *testing.T) {
	draw := func(r *rand.Rand) string { return []string{"a\xff", "b"}[r.IntN(2)] }
	in := expr.Col("text")
	eachSample(t, []int{20}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: s.column.Type(), Nullable: true}}, nil)
		if s.column.Type().ID() != arrow.BINARY {
			return
		}
		for name, e := range map[string]expr.Expr{
			"normalize": text.Normalize(in, "NFC"), "fold": text.FoldCase(in), "accents": text.StripAccents(in), "words": text.Words(in), "printf": text.Printf("%s", in), "format": text.Format("{}", in),
			"json": text.JSONGet(in, "$"), "json text": text.JSONText(in, "$"), "keys": text.JSONKeys(in, "$"), "type": text.JSONType(in, "$"), "elements": text.JSONElements(in, "$"),
		} {
			_, _, err := e.Type(schema)
			require.ErrorIs(t, err, expr.ErrType, name)
			require.ErrorContains(t, err, "cast it to utf8", name)
		}
		for want, e := range map[string]expr.Expr{"binary": text.Translate(in, "b", "c"), "list<item: binary, nullable>": text.SplitRegex(in, "b")} {
			kind, _, err := e.Type(schema)
			require.NoError(t, err)
			require.Equal(t, want, kind.String())
		}
		got := evaluate(t, s.column, text.Translate(in, "a", "c"))
		for i := range s.rows {
			require.Equal(t, map[string]string{"a\xff": "c\xff", "b": "b"}[s.texts[i]], valueOf(got, i))
		}
		got.Release()
	})
}

func TestJSONPointers(t *testing.T) {
	_, _, err := text.JSONText(expr.Col("text"), "/a/b").Type(arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil))
	require.ErrorIs(t, err, expr.ErrLiteral)
	require.ErrorContains(t, err, "JSON pointer")
}
