package iceberg_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// Values of truncate are those of a range upwards, also below zero. At the ends of a type writers have computed others, which leave
// out nothing.
func TestTruncatedBounds(t *testing.T) {
	engine, n := openEngine(t), gpuframe.Col("n")
	for _, test := range []struct {
		schema, kind string
		partition    any
		read, left   []gpuframe.Expr
	}{
		{"1 n int", "int", int32(-10), []gpuframe.Expr{n.Eq(-10), n.Eq(-1), n.Lt(0)}, []gpuframe.Expr{n.Ge(0), n.Lt(-10), n.Eq(-11)}},
		{"1 n int", "int", int32(math.MaxInt32 - 1), []gpuframe.Expr{n.Lt(0), n.Eq(math.MinInt32), n.Eq(math.MaxInt32)}, nil},
		{"1 n long", "int", int32(math.MaxInt32 - 1), []gpuframe.Expr{n.Lt(0), n.Eq(math.MinInt32)}, nil}, // a type that was widened
		{"1 n long", "long", int64(math.MaxInt32 + 1), []gpuframe.Expr{n.Eq(math.MaxInt32 + 10)}, []gpuframe.Expr{n.Lt(0), n.Gt(math.MaxInt32 + 10)}},
		{"1 n long", "long", int64(math.MaxInt64 - 3), []gpuframe.Expr{n.Lt(0), n.Eq(int64(math.MinInt64))}, nil},
	} {
		w := newTable(t, test.schema)
		w.spec(1, `1000 n_trunc truncate[10] 1 "`+test.kind+`"`)
		w.commit(w.data("absent.parquet", 9, object{"spec": 1, "partition": object{"n_trunc": test.partition}}))
		q := w.open(iceberg.Options{}).Query(engine)
		for _, condition := range test.read {
			require.True(t, read(t, q, condition), "%v %v", test.partition, condition)
		}
		for _, condition := range test.left {
			require.False(t, read(t, q, condition), "%v %v", test.partition, condition)
		}
	}
}

// A file of another machine is not read as one of this machine.
func TestFilesOfOtherMachines(t *testing.T) {
	w := newTable(t, "1 n long\n2 s string")
	entry := w.numbers("a.parquet", 0, nil)
	entry["file_path"] = "file://localhost" + w.root + "/a.parquet"
	w.commit(entry)
	require.Equal(t, lines(0, 1, 2, 3), kept(t, w, iceberg.Options{}))
	w.manifests = nil
	entry["file_path"] = "file://host" + w.root + "/a.parquet"
	w.commit(entry)
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, `is a file of the machine "host"`)
	_, err := iceberg.Open(t.Context(), "file://host/table", iceberg.Options{})
	require.ErrorContains(t, err, `the machine "host"`)
}
