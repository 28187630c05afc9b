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
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// query is the query of README.md with checks of its errors. Its file is in the current
// folder.
func query(t *testing.T, ctx context.Context) string {
	var (
		origin = gpuframe.Of[string]("origin")
		delay  = gpuframe.Of[int64]("delay")
	)

	gpu, err := gpuframe.Open(gpuframe.Budget(8 << 30))
	require.NoError(t, err)
	defer gpu.Close()
	late, err := gpu.Parquet("flights-3m.parquet").
		Filter(delay.Gt(15)).
		GroupBy(origin).Agg(delay.Mean().As("mean"), gpuframe.Count().As("flights")).
		Top(10, gpuframe.Col("flights").Desc()).
		Collect(ctx)
	require.NoError(t, err)
	defer late.Release()
	fmt.Println(late)
	tensor, err := dlpack.Export(late.Column("mean"))
	require.NoError(t, err)
	require.NoError(t, tensor.Release())
	return late.String()
}

// TestTheQueryRuns runs the query on a file of a few rows.
func TestTheQueryRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	schema := arrow.NewSchema([]arrow.Field{{Name: "origin", Type: arrow.BinaryTypes.String}, {Name: "delay", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rec, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema,
		strings.NewReader(`[{"origin":"OSL","delay":5},{"origin":"OSL","delay":20},{"origin":"BRN","delay":30},{"origin":"OSL","delay":25}]`))
	require.NoError(t, err)
	defer rec.Release()
	file, err := os.Create("flights-3m.parquet")
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, file, nil, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	text := query(t, t.Context())
	assert.Contains(t, text, "│ OSL    ┆    22.5 ┆       2 │")
	assert.Contains(t, text, "│ BRN    ┆    30.0 ┆       1 │")
}

// program is the second program of README.md with checks of its errors.
func program(t *testing.T, ctx context.Context, rec arrow.Record) string {
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
	arr, err := arrowdev.Export(tbl)
	check(err)
	defer arr.Release()
	long := expr.Col("distance").Gt(expr.Lit(1000))
	answer, err := reduce.Scalars(ctx, tbl, []reduce.Aggregate{reduce.Mean(expr.Col("delay")).Where(long)})
	check(err)
	fmt.Println(mgr.Stats())
	for _, err := range failed {
		require.NoError(t, err)
	}
	return fmt.Sprint(answer)
}

// TestTheProgramRuns runs the program, which is compiled in this file.
func TestTheProgramRuns(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int32}, {Name: "distance", Type: arrow.PrimitiveTypes.Int32}}, nil)
	rec, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema,
		strings.NewReader(`[{"delay":1,"distance":500},{"delay":4,"distance":1500},{"delay":8,"distance":2500}]`))
	require.NoError(t, err)
	defer rec.Release()
	assert.Contains(t, program(t, t.Context(), rec), "6")
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
	require.Equal(t, 2, blocks, "blocks of Go in README.md")
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
