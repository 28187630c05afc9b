package duckdb

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
)

var tpchScale = flag.Float64("tpch-scale", 0.01, "the scale factor of TestTPCH")

// TestTPCH compares the answers to the questions of TPC-H.
func TestTPCH(t *testing.T) {
	scale := *tpchScale
	p := openTPCH(t, scale)
	for _, q := range queries.All {
		t.Run(fmt.Sprint(q.Number), func(t *testing.T) {
			text, err := q.SQL(scale)
			require.NoError(t, err)
			difference, err := p.difference(t.Context(), strings.TrimSuffix(strings.TrimSpace(text), ";"), false)
			require.NoError(t, err, text)
			require.Empty(t, difference, text)
		})
	}
}

// openTPCH returns peers with the tables of TPC-H.
func openTPCH(t *testing.T, scale float64) *peers {
	p := openEmpty(t)
	generator, err := data.New(scale, 1)
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, generator.WriteParquet(t.Context(), folder))
	for _, table := range data.Tables {
		files := filepath.Join(folder, table.String()+"-*.parquet")
		p.session.Register(table.String(), p.engine.Parquet(files))
		_, err := p.db.Exec(fmt.Sprintf("create table %s as select * from read_parquet('%s')", table, files))
		require.NoError(t, err)
	}
	return p
}
