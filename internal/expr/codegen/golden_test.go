package codegen

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
)

var update = flag.Bool("update", false, "write testdata/few.ptx and many.ptx anew")

// TestGolden keeps generated kernels for readers: (x·2 + y) > 1 and x < y of float32,
// where x has nulls, with one and with four rows per lane.
func TestGolden(t *testing.T) {
	f32 := arrow.PrimitiveTypes.Float32
	p := exprtree.NewProgram([]int{0, 1}, []arrow.DataType{f32, f32}, []*exprtree.Node{subjects()[0].output(f32)})
	shape := AllNullable(p)
	shape.Inputs[1].Validity = NoBits
	for file, rows := range map[string]int{"testdata/few.ptx": 1, "testdata/many.ptx": 4} {
		g, err := New(p, shape, "arguments")
		require.NoError(t, err)
		k, err := newElementwise(g, rows)
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(k.text), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), k.text, "go test -update writes it anew")
		kerneltest.Assemble(t, k.text)
	}
}

// TestLibrary checks that each function comes with its dependencies, and nothing else.
func TestLibrary(t *testing.T) {
	for _, name := range []string{"gpuframe_exp", "gpuframe_log", "gpuframe_pow", "gpuframe_sin", "gpuframe_cos", "gpuframe_fmod",
		"gpuframe_civil", "gpuframe_decimal_multiply", "gpuframe_decimal_divide", "gpuframe_text_word", "gpuframe_text_equal", "gpuframe_text_order", "gpuframe_text_seek", "gpuframe_text_char_offset", "gpuframe_hash_text"} {
		require.Contains(t, library(), name)
		require.NotContains(t, library()[name].text, ".loc")
	}
	require.Equal(t, []string{"_ZL11two_over_pi"}, library()["gpuframe_sin"].needs)
	g := &Generator{functions: map[string]bool{"gpuframe_sin": true, "gpuframe_cos": true}}
	text := g.Functions()
	require.Contains(t, text, "gpuframe_cos_param_0")
	require.Less(t, len(text), 40_000)
	require.Equal(t, 1, strings.Count(text, ".const .align 8 .b8 _ZL11two_over_pi"))
}
