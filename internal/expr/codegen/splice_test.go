package codegen_test

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed testdata/keep.ptx
var template string

// predicates returns programs with a function, strings and a plain comparison.
func predicates() []*exprtree.Program {
	str := arrow.BinaryTypes.String
	types := []arrow.DataType{f64, str}
	return []*exprtree.Program{
		program(types, node(exprtree.Less, bools, input(0, f64), literal(f64, 1.0))),
		program(types, node(exprtree.Less, bools, node(exprtree.Remainder, f64, input(0, f64), literal(f64, 3.0)), literal(f64, 1.0))),
		program(types, node(exprtree.Or, bools, node(exprtree.Greater, bools, input(0, f64), literal(f64, 1.0)),
			node(exprtree.StartsWith, bools, input(1, str), literal(str, "delay")))),
	}
}

func TestSplice(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const rows, offset = 1003, 3
		v := newValues(1)
		arrays := []arrow.Array{v.array(t, f64, rows+offset, 5), v.array(t, arrow.BinaryTypes.String, rows+offset, 4)}
		columns := upload(t, mgr, arrays, offset)
		defer release(t, columns)
		for _, p := range predicates() {
			shape, err := codegen.ShapeOf(p, columns)
			require.NoError(t, err)
			g, err := codegen.New(p, shape, "")
			require.NoError(t, err)
			text, err := g.Splice(template, "keep")
			require.NoError(t, err)
			module, err := kernels.LoadCached(dev, text)
			require.NoError(t, err)
			function, err := module.Function("keep")
			require.NoError(t, err)
			outputs, err := memory.NewSlice[uint32](mgr, 2*rows, memory.AllocateOptions{})
			require.NoError(t, err)
			one, err := outputs.Slice(rows, 2*rows)
			require.NoError(t, err)
			var words kernels.Words
			require.NoError(t, g.Arguments(&words, p, columns))
			require.NoError(t, function.Launch(nil, device.Dim3{X: 3}, device.Dim3{X: 64}, 0, outputs, one, uint64(rows), &words))
			got := make([]uint32, 2*rows)
			require.NoError(t, outputs.Download(t.Context(), nil, got))
			require.NoError(t, outputs.Release())

			sliced := []arrow.Array{array.NewSlice(arrays[0], offset, offset+rows), array.NewSlice(arrays[1], offset, offset+rows)}
			want, err := hosteval.Evaluate(t.Context(), p, sliced, rows)
			require.NoError(t, err)
			truth := want[0].(*array.Boolean)
			for i := range rows {
				kept := uint32(0)
				if truth.IsValid(i) && truth.Value(i) {
					kept = 1
				}
				require.Equal(t, kept, got[i], "row %d of four", i)
				require.Equal(t, kept, got[rows+i], "row %d", i)
			}
		}
	})
}

func TestSpliceRefusals(t *testing.T) {
	p := predicates()[0]
	notBool := program([]arrow.DataType{f64}, node(exprtree.Negate, f64, input(0, f64)))
	for _, test := range []struct {
		name, template, kernel, text string
		program                      *exprtree.Program
	}{
		{"another kernel", template, "drop", "no such kernel", p},
		{"no hole", strings.ReplaceAll(template, "//@predicate", "// predicate"), "keep", "no line //@predicate", p},
		{"no struct", strings.ReplaceAll(template, ".param .align 8 .b8 keep_param_3[8]", ".param .u64 keep_param_3"), "keep", "not a struct of words", p},
		{"no registers", strings.ReplaceAll(template, "//@predicate", "//@predicate\n//"), "keep", "takes registers", p},
		{"too few values", regexp.MustCompile("(?m)//@predicate .*$").ReplaceAllString(template, "$0 given"), "keep", "0 values are given of 4 rows", p},
		{"no end", template[:strings.Index(template, "ret;")], "keep", "no end", p},
		{"no bool", template, "keep", "not bool", notBool},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := codegen.New(test.program, codegen.AllNullable(test.program), "")
			require.NoError(t, err)
			_, err = g.Splice(test.template, test.kernel)
			require.ErrorIs(t, err, device.ErrInvalidValue)
			require.ErrorContains(t, err, test.text)
		})
	}
}
