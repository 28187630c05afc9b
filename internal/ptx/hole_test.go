package ptx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// holes are a function of two results that needs a register, and one that needs none.
var holes = map[string]ptx.Hole{
	"add": ptx.Function{Results: 1, Arguments: 2, Code: func(b *ptx.Builder, results, arguments []ptx.Register) {
		b.Move("add.u32", results[0], arguments...)
	}}.Hole(),
	"both": ptx.Function{Results: 2, Arguments: 1, Code: func(b *ptx.Builder, results, arguments []ptx.Register) {
		twice := b.Op(ptx.Word32, "add.u32", arguments[0], arguments[0])
		b.Move("add.u32", results[0], twice, arguments[0])
		b.Move("add.u32", results[1], twice, twice)
	}}.Hole(),
}

func TestFillGivesEachLineItsRegisters(t *testing.T) {
	text, lines, err := ptx.Fill("\t//@both %r1 %r2 = %r3\n\t//@both %r4 %r5 = %r1\n", holes)
	require.NoError(t, err)
	require.Equal(t, 2, lines)
	require.Equal(t, 1, strings.Count(text, "add.u32 %hole0_r0, %r3, %r3;"))
	require.Equal(t, 1, strings.Count(text, "add.u32 %hole1_r0, %r1, %r1;"))
	require.Equal(t, 2, strings.Count(text, "{"), "each line with registers is a scope")
}

func TestFillRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"//@subtract %r1 = %r2 %r3": "//@subtract %r1 = %r2 %r3 names no hole",
		"//@":                       "names no hole",
		"//@add %r1 %r2 %r3":        "hole add: its operands are",
		"//@add %r1 = %r2":          "not 1 results, =, and 2 arguments",
		"//@add = %r1 %r2 %r3":      "not 1 results, =, and 2 arguments",
		"//@both %r1 = %r2 %r3":     "hole both: its operands are",
	} {
		_, _, err := ptx.Fill("\tret;\n\t"+line+"\n", holes)
		require.ErrorContains(t, err, want, line)
	}
	text, lines, err := ptx.Fill("// @add is a comment\n", holes)
	require.NoError(t, err)
	require.Zero(t, lines)
	require.Equal(t, "// @add is a comment\n", text)
}

func ExampleFill() {
	text, _, err := ptx.Fill("\t//@add %r1 = %r2 %r3\n\tret;\n", holes)
	fmt.Print(text, err)
	// Output:
	// 	add.u32 %r1, %r2, %r3;
	// 	ret;
	// <nil>
}
