package readme

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// program is the program of README.md with checks of its errors.
func program(t *testing.T, ctx context.Context, rec arrow.Record) (string, int64) {
	var failed []error
	check := func(err error) { failed = append(failed, err) }

	dev, err := device.Open("")
	require.NoError(t, err)
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 8 << 30})
	require.NoError(t, err)
	defer mgr.Close()

	tbl, err := buffer.FromRecord(mgr, rec)
	check(err)
	defer tbl.Release()

	tensor, err := dlpack.Export(tbl.Column(0))
	check(err)
	defer tensor.Release()
	arr, err := arrowdev.Export(tbl)
	check(err)
	defer arr.Release()

	fmt.Println(mgr.Stats())

	long := expr.Col("distance").Gt(expr.Lit(1000))
	mean := reduce.Mean(expr.Col("delay")).Where(long)
	answer, err := reduce.Scalars(ctx, tbl, []reduce.Aggregate{mean})
	check(err)
	kept, err := selection.Filter(ctx, tbl, long)
	check(err)

	defer kept.Release()
	for _, err := range failed {
		require.NoError(t, err)
	}
	rows, err := kept.NumRows(ctx)
	require.NoError(t, err)
	return fmt.Sprint(answer), rows
}

// TestTheProgramRuns runs the program, which is compiled in this file.
func TestTheProgramRuns(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int32}, {Name: "distance", Type: arrow.PrimitiveTypes.Int32}}, nil)
	rec, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema,
		strings.NewReader(`[{"delay":1,"distance":500},{"delay":4,"distance":1500},{"delay":8,"distance":2500}]`))
	require.NoError(t, err)
	defer rec.Release()
	answer, rows := program(t, t.Context(), rec)
	assert.Contains(t, answer, "6")
	assert.EqualValues(t, 2, rows)
}

// TestTheProgramIsTheReadmes checks that every line of Go in README.md is a line of
// program, in the same order.
func TestTheProgramIsTheReadmes(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	here := code(strings.Split(string(source), "\n"))
	blocks := 0
	for i, block := range strings.Split(string(readme), "```") {
		lines := strings.Split(block, "\n")
		if i%2 == 0 || lines[0] != "go" {
			continue
		}
		blocks++
		for _, line := range code(lines[1:]) {
			for len(here) > 0 && here[0] != line {
				here = here[1:]
			}
			require.NotEmpty(t, here, "README.md has %q, and program does not, after the lines before", line)
			here = here[1:]
		}
	}
	require.Equal(t, 1, blocks, "blocks of Go in README.md")
}

// code returns lines without comments, the spaces around them, and empty ones.
func code(lines []string) (result []string) {
	for _, line := range lines {
		if at := strings.Index(line, "//"); at >= 0 {
			line = line[:at]
		}
		if line = strings.TrimSpace(line); line != "" {
			result = append(result, line)
		}
	}
	return result
}
