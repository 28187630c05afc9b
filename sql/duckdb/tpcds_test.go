package duckdb

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

var tpcdsTimes = flag.Int("tpcds-times", 1, "the number by which the rows of sales, returns and inventory are multiplied")

// fillTPCDS makes small tables of TPC-DS in both.
func fillTPCDS(t *testing.T, p *peers) {
	values := &tpcdsValues{rand.New(rand.NewPCG(7, 99)), map[string]map[string][]any{}, map[string][]any{}}
	folder := t.TempDir()
	for _, table := range tpcdsTables {
		if table.basket > 0 || table.related != "" || table.name == "inventory" {
			table.rows *= *tpcdsTimes
		}
		record := values.record(table)
		file := filepath.Join(folder, table.name+".parquet")
		_, err := p.engine.Records(record.Schema(), record).WriteFile(t.Context(), file, gpuframe.Parquet())
		require.NoError(t, err)
		record.Release()
		p.session.Register(table.name, p.engine.Parquet(file))
		_, err = p.db.Exec(fmt.Sprintf("create table %s as select * from read_parquet('%s')", table.name, file))
		require.NoError(t, err)
	}
}

// lastLimit is the LIMIT at the end of a statement.
var lastLimit = regexp.MustCompile(`(?i)\blimit\s+\d+\s*$`)

// TestTPCDS compares the answers to the questions of TPC-DS. The environment variable TPCDS_QUERIES names the folder of their texts, such as
// DuckDB's extension/tpcds/dsdgen/queries. Rows whose order a question leaves open are compared without its order and limit.
func TestTPCDS(t *testing.T) {
	folder := os.Getenv("TPCDS_QUERIES")
	if folder == "" {
		t.Skip("TPCDS_QUERIES is not set: the questions of TPC-DS are not part of the project; TestStar has statements of the same shapes")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	p := openEmpty(t)
	fillTPCDS(t, p)
	var same, open, empty int
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			statement := strings.TrimSuffix(strings.TrimSpace(string(text)), ";")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := time.Now()
			theirs, err := p.theirs(statement)
			require.NoError(t, err)
			peerTime := time.Since(start)
			start = time.Now()
			_, mine, err := p.mine(ctx, statement)
			require.NoError(t, err)
			t.Logf("%d rows, %v, DuckDB %v", len(mine), time.Since(start).Round(time.Millisecond), peerTime.Round(time.Millisecond))
			if len(theirs) == 0 {
				empty++
			}
			if slices.EqualFunc(mine, theirs, slices.Equal) {
				same++
				return
			}
			require.Len(t, mine, len(theirs))
			difference, err := p.difference(ctx, lastLimit.ReplaceAllString(statement, ""), false)
			require.NoError(t, err)
			require.Empty(t, difference)
			open++
		})
	}
	t.Logf("%d have the same rows in the same order, %d the same rows without their limit, of %d; %d have no rows", same, open, len(files), empty)
}
