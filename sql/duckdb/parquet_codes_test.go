package duckdb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	gpusql "github.com/gpuframe/gpuframe/sql"
)

// codedTable is 60,000 rows with text and numbers of few values in no order, in runs and with nulls.
const codedTable = `create table codes as select i, 'city ' || (i * 7919 % 10007 % 300) as scattered, case when i % 11 = 0 then null else 'run ' || (i // 400 % 50) end as runs,
	(i * 31 % 997 % 40)::integer as number, (date '2020-01-01' + (i // 600)::integer) as day, (i * 13 % 501)::decimal(12, 2) / 4 as price, 'text ' || i as plain from range(60000) t(i)`

// codeConditions are conditions that are evaluated on dictionaries, and some that are not.
var codeConditions = []string{
	`scattered = 'city 17'`, `scattered in ('city 1', 'city 2', 'none')`, `scattered like '%7_'`, `scattered not like 'city 1%'`, `contains(scattered, '29')`,
	`runs = 'run 3'`, `runs <> 'run 3'`, `runs is null`, `not (runs in ('run 1', 'run 2'))`, `starts_with(runs, 'run 4') and number < 5`, `runs > 'run 45' or runs = 'run 2'`,
	`number = 3`, `number between 10 and 12 and scattered like 'city 2%'`, `day >= date '2020-03-01'`, `day = date '2020-02-02' and runs like '%1'`, `price < 3.5`, `number + 1 = 4`,
	`scattered = 'none'`, `number >= 0`, `plain like '%99'`,
}

// Of files by DuckDB, gpuframe selects the rows that DuckDB does.
func TestConditionsOnDictionaries(t *testing.T) {
	engine, db := engineAndDuckDB(t)
	_, err := db.Exec(codedTable)
	require.NoError(t, err)
	selected := 0
	for _, options := range []string{"compression snappy", "compression zstd, row_group_size 10000", "compression uncompressed, parquet_version v2"} {
		path := filepath.Join(t.TempDir(), "codes.parquet")
		_, err := db.Exec(fmt.Sprintf("copy codes to '%s' (format parquet, %s)", path, options))
		require.NoError(t, err)
		session := gpusql.New(engine)
		for _, condition := range codeConditions {
			text := "select count(*), sum(i)::bigint, min(plain), max(scattered) from "
			var want [4]sql.NullString
			require.NoError(t, db.QueryRow(text+"codes where "+condition).Scan(&want[0], &want[1], &want[2], &want[3]), condition)
			q, err := session.Query(t.Context(), text+"'"+path+"' where "+condition)
			require.NoError(t, err, condition)
			var profile gpuframe.Profile
			f, err := q.Collect(t.Context(), gpuframe.Profiled(&profile))
			require.NoError(t, err, condition)
			record, err := f.Record(t.Context())
			require.NoError(t, err)
			for i, each := range want {
				require.Equal(t, each.Valid, record.Column(i).IsValid(0), condition)
				if each.Valid {
					require.Equal(t, each.String, record.Column(i).ValueStr(0), "%s: %s", options, condition)
				}
			}
			record.Release()
			require.NoError(t, f.Release())
			if strings.Contains(profile.String(), "rows left out by dictionaries") {
				selected++
			}
		}
	}
	require.Positive(t, selected)
}
