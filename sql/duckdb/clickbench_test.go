package duckdb

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
)

var hits = flag.Int("hits", 20_000, "the rows of TestClickBench")

// TestClickBench compares the answers to the questions of ClickBench, without their limits.
func TestClickBench(t *testing.T) {
	p := openEmpty(t)
	record := clickbench.Record(1, 0, *hits)
	defer record.Release()
	table := p.engine.Records(record.Schema(), record)
	file := filepath.Join(t.TempDir(), "hits.parquet")
	_, err := table.WriteFile(t.Context(), file, gpuframe.Parquet())
	require.NoError(t, err)
	p.session.Register("hits", table)
	_, err = p.db.Exec(fmt.Sprintf("create table hits as select * from read_parquet('%s')", file))
	require.NoError(t, err)
	for i, text := range clickbench.Questions {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			text := clickbench.WithoutLimit(text)
			difference, err := p.difference(t.Context(), text, false)
			require.NoError(t, err, text)
			require.Empty(t, difference, text)
		})
	}
}
