package codegen_test

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// exact has operands and results of functions, computed with mpmath in 1,400 bits and
// rounded to float64.
//
//go:embed testdata/math.txt
var exact string

var functionNames = map[string]exprtree.Op{"exp": exprtree.Exp, "log": exprtree.Log, "sin": exprtree.Sin, "cos": exprtree.Cos, "power": exprtree.Power}

// cases returns the cases of one function: operands by column, then results.
func cases(t *testing.T, name string) (columns [][]float64) {
	for line := range strings.Lines(exact) {
		fields := strings.Fields(line)
		if fields[0] != name {
			continue
		}
		for i, field := range fields[1:] {
			v, err := strconv.ParseFloat(field, 64)
			require.NoError(t, err)
			if i == len(columns) {
				columns = append(columns, nil)
			}
			columns[i] = append(columns[i], v)
		}
	}
	return columns
}

// TestFunctions allows two ulp.
func TestFunctions(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for name, op := range functionNames {
			columns := cases(t, name)
			want := columns[len(columns)-1]
			var types []arrow.DataType
			var arrays []arrow.Array
			var arguments []*exprtree.Node
			for i, column := range columns[:len(columns)-1] {
				b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
				b.AppendValues(column, nil)
				arrays = append(arrays, b.NewArray())
				types = append(types, f64)
				arguments = append(arguments, input(i, f64))
			}
			got := run(t, mgr, program(types, node(op, f64, arguments...)), arrays)[0].(*array.Float64)
			require.Equal(t, len(want), got.Len())
			for i := range want {
				apart := math.Abs(float64(int64(math.Float64bits(want[i]) - math.Float64bits(got.Value(i)))))
				require.LessOrEqual(t, apart, 2.0, "%s case %d of %v: %v, not %v", name, i, arrays[0].ValueStr(i), got.Value(i), want[i])
			}
		}
	})
}

// TestSpecialCases has the zeros, infinities and NaNs of C99, for which Go's functions
// give the same results.
func TestSpecialCases(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		special := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e300}
		x, y := array.NewFloat64Builder(arrowmemory.DefaultAllocator), array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		for _, a := range special {
			for _, b := range special {
				x.Append(a)
				y.Append(b)
			}
		}
		arrays := []arrow.Array{x.NewArray(), y.NewArray()}
		one := []*exprtree.Node{input(0, f64)}
		two := []*exprtree.Node{input(0, f64), input(1, f64)}
		p := program([]arrow.DataType{f64, f64}, node(exprtree.Power, f64, two...), node(exprtree.Remainder, f64, two...),
			node(exprtree.Exp, f64, one...), node(exprtree.Log, f64, one...), node(exprtree.Sin, f64, one...), node(exprtree.Cos, f64, one...))
		got := run(t, mgr, p, arrays)
		for i := range got[0].Len() {
			a, b := arrays[0].(*array.Float64).Value(i), arrays[1].(*array.Float64).Value(i)
			wants := []float64{math.Pow(a, b), math.Mod(a, b), math.Exp(a), math.Log(a), math.Sin(a), math.Cos(a)}
			for f, want := range wants {
				if f >= 4 && math.Abs(a) == 1e300 {
					continue // is among the exact cases
				}
				value := got[f].(*array.Float64).Value(i)
				if want != want {
					require.True(t, value != value, "function %d of %v, %v: %v", f, a, b, value)
					continue
				}
				near := value == want || math.Abs(value-want) <= 1e-14*math.Abs(want)
				require.True(t, near && math.Signbit(want) == math.Signbit(value), "function %d of %v, %v: %v, not %v", f, a, b, value, want)
			}
		}
	})
}
