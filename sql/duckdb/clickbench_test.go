package duckdb

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
)

// TestClickBench compares the answers to the questions of ClickBench, without their limits.
func TestClickBench(t *testing.T) {
	p := openEmpty(t)
	record := clickbench.Record(1, 0, 20_000)
	defer record.Release()
	hits := p.engine.Records(record.Schema(), record)
	file := filepath.Join(t.TempDir(), "hits.parquet")
	_, err := hits.WriteFile(t.Context(), file, gpuframe.Parquet())
	require.NoError(t, err)
	p.session.Register("hits", hits)
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
