package iceberg_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// BenchmarkOpen opens a table of 100,000 files in 10 manifests, with bounds of five columns.
func BenchmarkOpen(b *testing.B) {
	w := newTable(b, "1 n long\n2 a long\n3 b long\n4 c string\n5 d string")
	w.spec(1, `1000 n_bucket bucket[16] 1 "int"`)
	values := bounds(map[int]string{1: "\x01\x00\x00\x00\x00\x00\x00\x00", 2: "\x01\x00\x00\x00\x00\x00\x00\x00", 3: "\x01\x00\x00\x00\x00\x00\x00\x00", 4: "text", 5: "text"})
	numbers := counts(map[int]int64{1: 9, 2: 9, 3: 9, 4: 9, 5: 9})
	for part := range 10 {
		var entries []object
		for i := range 10000 {
			entries = append(entries, w.data(fmt.Sprintf("data/%d/%d-0123456789abcdef.parquet", part, i), 9, object{"spec": 1, "partition": object{"n_bucket": i % 16},
				"lower_bounds": values, "upper_bounds": values, "value_counts": numbers, "null_value_counts": numbers}))
		}
		w.commit(entries...)
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(b, err)
	defer func() { require.NoError(b, engine.Close()) }()
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			table, err := iceberg.Open(b.Context(), w.root, iceberg.Options{})
			require.NoError(b, err)
			require.Len(b, table.Files(), 100000)
		}
	})
	b.Run("leave out", func(b *testing.B) {
		table := w.open(iceberg.Options{})
		for b.Loop() {
			lines := rowsOf(b, table.Query(engine).Filter(gpuframe.Col("n").Gt(1)))
			require.Empty(b, lines)
		}
	})
}
