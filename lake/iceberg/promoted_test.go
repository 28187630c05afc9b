package iceberg_test

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// Deletes of a partition are found after its column was widened, and whatever number of bytes a writer gives a decimal.
func TestDeletesOfPromotedPartitions(t *testing.T) {
	fixed := func(size string) string {
		return `{"name": "d", "type": ["null", {"type": "fixed", "name": "fd", "size": ` + size + `, "logicalType": "decimal", "precision": 9, "scale": 2}], "default": null, "field-id": 1000}`
	}
	in := func(value ...byte) object { return object{"spec": 1, "partition": object{"d": value}} }
	for name, each := range map[string]struct {
		members string
		value   []byte
	}{
		"promoted": {fixed("9"), []byte{255, 255, 255, 255, 255, 255, 255, 255, 56}},
		"bytes":    {`{"name": "d", "type": ["null", "bytes"], "default": null, "field-id": 1000}`, []byte{56 | 0x80}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTable(t, "1 n long\n2 s string\n3 d decimal(9,2)")
			w.spec(1, `1000 d identity 3 "bytes"`)
			w.partitions[1] = fixed("4")
			last := each.value[len(each.value)-1]
			w.commit(w.numbers("a.parquet", 0, in(255, 255, 255, last)), w.numbers("b.parquet", 10, in(255, 255, 255, last)))
			w.schema(1, "1 n long\n2 s string\n3 d decimal(20,2)")
			w.partitions[1] = each.members
			w.parquet("e.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}]`)
			blob := vectorBlob(t, 3)
			w.file("v.puffin", blob)
			w.commit(w.positions("d.parquet", map[string][]int64{"a.parquet": {0}}, in(each.value...)), w.data("e.parquet", 1, merged(object{"content": 2, "equality_ids": []int32{1}}, in(each.value...))),
				w.data("v.puffin", 1, merged(object{"content": 1, "file_format": "PUFFIN", "referenced_data_file": w.root + "/b.parquet", "content_offset": int64(0), "content_size_in_bytes": int64(len(blob))}, in(each.value...))))
			require.Equal(t, lines(10, 11, 12, 2, 3), kept(t, w, iceberg.Options{}))
		})
	}
}

// Manifests without IDs of fields of partitions have their names, as Avro allows them.
func TestPartitionsWithoutIDs(t *testing.T) {
	w, engine := newTable(t, "1 n long\n2 s string\n3 a-p int"), openEngine(t)
	w.spec(1, `1000 a-p identity 3 "int"`)
	w.partitions[1] = `{"name": "a_x2Dp", "type": ["null", "int"], "default": null}`
	in := func(value int) object { return object{"spec": 1, "partition": object{"a_x2Dp": value}} }
	w.commit(w.numbers("a.parquet", 0, in(7)), w.numbers("b.parquet", 4, in(8)))
	w.commit(w.positions("d.parquet", map[string][]int64{"a.parquet": {0}, "b.parquet": {0}}, in(8)))
	require.Equal(t, lines(0, 1, 2, 3, 5, 6, 7), kept(t, w, iceberg.Options{}))
	require.Equal(t, lines(5, 6, 7), rowsOf(t, w.open(iceberg.Options{}).Query(engine).Filter(gpuframe.Col("a-p").Eq(8)).Select(gpuframe.Col("n"))))
	w.partitions[1] = `{"name": "other", "type": ["null", "int"], "default": null}`
	w.commit(w.numbers("c.parquet", 0, object{"spec": 1, "partition": object{"other": 1}}))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, `c.parquet: the manifest lacks the field "a-p" of the partition spec 1`)
}

// A file of equality deletes has their columns, or its partition has them.
func TestEqualityDeletesWithoutColumns(t *testing.T) {
	w, engine := newTable(t, "1 n long\n2 s string"), openEngine(t)
	w.commit(w.numbers("a.parquet", 0, nil))
	w.spec(1, `1000 n identity 1 "long"`)
	w.parquet("e.parquet", []arrow.Field{text(2, "s")}, `[{"s": "b"}]`)
	deletes := func(more object) object {
		return w.data("e.parquet", 1, merged(object{"content": 2, "equality_ids": []int32{1, 2}}, more))
	}
	w.commit(deletes(nil))
	_, err := linesOf(t.Context(), w.open(iceberg.Options{}).Query(engine))
	require.ErrorIs(t, err, iceberg.ErrDeletes)
	require.ErrorContains(t, err, `e.parquet: it lacks the column "n"`)

	w.manifests = nil
	w.commit(w.data("a.parquet", 4, object{"spec": 1, "partition": object{"n": int64(1)}}))
	w.commit(deletes(object{"spec": 1, "partition": object{"n": int64(1)}}))
	require.Equal(t, []string{`{"s":"a"}`, `{"s":"c"}`, `{"s":"d"}`}, rowsOf(t, w.open(iceberg.Options{}).Query(engine).Select(gpuframe.Col("s"))))
}

// Files of data need not have a column of their partition by which rows were deleted before it was dropped.
func TestEqualityDeletesByDroppedPartitions(t *testing.T) {
	w := newTable(t, "1 n long\n2 s string\n3 p int")
	w.spec(1, `1000 p identity 3 "int"`)
	w.commit(w.numbers("a.parquet", 0, object{"spec": 1, "partition": object{"p": 7}}), w.numbers("b.parquet", 4, object{"spec": 1, "partition": object{"p": 8}}))
	w.parquet("e.parquet", []arrow.Field{field(3, "p", arrow.PrimitiveTypes.Int32)}, `[{"p": 7}]`)
	w.commit(w.data("e.parquet", 1, object{"content": 2, "equality_ids": []int32{3}}))
	w.schema(1, "1 n long\n2 s string")
	w.write()
	require.Equal(t, lines(4, 5, 6, 7), kept(t, w, iceberg.Options{}))
	require.Empty(t, w.open(iceberg.Options{}).Files()[0].Partition)
}

// Truncated values of the least integers overflow: files of such a partition are read.
func TestTruncateOverflows(t *testing.T) {
	w, engine := newTable(t, "1 i int\n2 l long\n3 c decimal(9,2)"), openEngine(t)
	w.spec(1, `1000 i_trunc truncate[10] 1 "int"
1001 l_trunc truncate[10] 2 "long"
1002 c_trunc truncate[50] 3 "bytes"`)
	w.commit(w.data("absent.parquet", 1, object{"spec": 1, "partition": object{"i_trunc": 2147483646, "l_trunc": int64(math.MaxInt64 - 1), "c_trunc": []byte{0xce}}}))
	i, l, c := gpuframe.Col("i"), gpuframe.Col("l"), gpuframe.Col("c")
	q := w.open(iceberg.Options{}).Query(engine)
	for _, condition := range []gpuframe.Expr{i.Lt(0), i.Gt(2147483645), l.Lt(0), c.Eq(-0.5), c.Eq(-0.01)} {
		require.True(t, read(t, q, condition), "%v", condition)
	}
	for _, condition := range []gpuframe.Expr{c.Lt(-0.5), c.Ge(0)} {
		require.False(t, read(t, q, condition), "%v", condition)
	}
	w.schema(1, "1 i long\n2 l long\n3 c decimal(20,2)")
	w.partitions[1] = strings.Replace(w.partitions[1], `"int"`, `"long"`, 1) // a manifest that was written again
	w.manifests = nil
	w.commit(w.data("absent.parquet", 1, object{"spec": 1, "partition": object{"i_trunc": int64(2147483646), "l_trunc": int64(-20), "c_trunc": nil}}))
	q = w.open(iceberg.Options{}).Query(engine)
	for _, condition := range []gpuframe.Expr{i.Lt(0), l.Eq(-20), l.Eq(-11)} {
		require.True(t, read(t, q, condition), "%v", condition)
	}
	for _, condition := range []gpuframe.Expr{l.Lt(-20), l.Gt(-11), c.Eq(0)} {
		require.False(t, read(t, q, condition), "%v", condition)
	}
}
