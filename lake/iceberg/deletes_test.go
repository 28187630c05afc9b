package iceberg_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// vectorBlob is the blob of a deletion vector in a Puffin file.
func vectorBlob(t testing.TB, rows ...uint64) []byte {
	bitmap, err := roaring64.BitmapOf(rows...).ToBytes()
	require.NoError(t, err)
	data := append(binary.LittleEndian.AppendUint32(nil, 1681511377), bitmap...)
	framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	return binary.BigEndian.AppendUint32(framed, crc32.ChecksumIEEE(data))
}

// numbers writes a file of the numbers [first, first+4) with texts, and returns its entry.
func (w *written) numbers(name string, first int, more object) object {
	var rows []string
	for n := first; n < first+4; n++ {
		rows = append(rows, jsonText(object{"n": n, "s": string(rune('a' + n))}))
	}
	w.parquet(name, []arrow.Field{long(1, "n"), text(2, "s")}, jsonList(rows))
	return w.data(name, 4, more)
}

func kept(t *testing.T, w *written, options iceberg.Options) []string {
	return rowsOf(t, w.open(options).Query(openEngine(t)).Select(gpuframe.Col("n")))
}

func lines(numbers ...int) (list []string) {
	for _, n := range numbers {
		list = append(list, jsonText(object{"n": n}))
	}
	return list
}

// Position deletes apply to files of their partition up to their sequence number.
func TestPositionDeletes(t *testing.T) {
	w := newTable(t, "1 n long\n2 s string")
	w.commit(w.numbers("a.parquet", 0, nil), w.numbers("b.parquet", 4, nil))
	w.commit(w.positions("d1.parquet", map[string][]int64{"a.parquet": {0, 3}, "b.parquet": {1}, "absent.parquet": {0}}, nil))
	require.Equal(t, lines(1, 2, 4, 6, 7), kept(t, w, iceberg.Options{}))
	require.Equal(t, lines(0, 1, 2, 3, 4, 5, 6, 7), kept(t, w, iceberg.Options{Snapshot: new(int64(10))}))
	// A file that replaces one keeps rows of older deletes; one of the same snapshot does not.
	w.commit(w.numbers("c.parquet", 0, nil), w.positions("d2.parquet", map[string][]int64{"c.parquet": {2}}, nil),
		w.positions("d3.parquet", map[string][]int64{"c.parquet": {3}}, object{"sequence_number": int64(2), "status": 0}))
	require.Equal(t, lines(0, 1, 1, 2, 3, 4, 6, 7), kept(t, w, iceberg.Options{}))
	files := w.open(iceberg.Options{}).Files()
	require.Len(t, files, 3)
	require.EqualValues(t, []int64{2, 1, 1}, []int64{files[0].Deleted, files[1].Deleted, files[2].Deleted})

	w.commit(w.positions("d4.parquet", map[string][]int64{"b.parquet": {4}}, nil))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "b.parquet: row 4 is deleted, the file has 4 rows")
	// Positions of files of other tables are ignored, in any number; those behind a file are refused by the first one.
	manifests := w.manifests[:len(w.manifests)-1]
	var far []int64
	for i := range int64(100000) {
		far = append(far, (100000-i)<<32)
	}
	w.manifests = manifests
	w.commit(w.positions("d5.parquet", map[string][]int64{"other.parquet": far}, nil))
	require.Equal(t, lines(0, 1, 1, 2, 3, 4, 6, 7), kept(t, w, iceberg.Options{}))
	w.manifests = manifests
	w.commit(w.positions("d6.parquet", map[string][]int64{"c.parquet": far}, nil))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "c.parquet: row 429496729600000 is deleted, the file has 4 rows")
	w.manifests = manifests
	w.commit(w.positions("d4.parquet", map[string][]int64{"b.parquet": {4}}, nil))
	require.NoError(t, os.Remove(w.root+"/d4.parquet"))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "d4.parquet")
}

func TestDamagedPositionDeletes(t *testing.T) {
	for text, more := range map[string]object{`its format is "AVRO"`: {"file_format": "AVRO"}, "it is encrypted": {"key_metadata": []byte{1}}} {
		w := newTable(t, "1 n long\n2 s string")
		w.commit(w.numbers("a.parquet", 0, nil), w.positions("d.parquet", map[string][]int64{"a.parquet": {0}}, more))
		w.fail(iceberg.Options{}, iceberg.ErrUnsupported, "d.parquet: "+text)
	}
	w := newTable(t, "1 n long\n2 s string")
	w.commit(w.numbers("a.parquet", 0, nil), w.positions("d.parquet", map[string][]int64{"a.parquet": {-1}}, nil))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "a row has no file or no position")
}

// Position deletes of another partition apply to no file.
func TestPositionDeletesOfPartitions(t *testing.T) {
	w := newTable(t, "1 n long\n2 s string")
	w.spec(1, `1000 b bucket[4] 1 "int"`)
	bucket := func(n int) object { return object{"spec": 1, "partition": object{"b": n}} }
	w.commit(w.numbers("a.parquet", 0, bucket(0)), w.numbers("b.parquet", 4, bucket(1)))
	w.commit(w.positions("d1.parquet", map[string][]int64{"a.parquet": {0}, "b.parquet": {0}}, bucket(1)))
	require.Equal(t, lines(0, 1, 2, 3, 5, 6, 7), kept(t, w, iceberg.Options{}))
}

// A file with a deletion vector has no other position deletes.
func TestDeletionVectors(t *testing.T) {
	w := newTable(t, "1 n long\n2 s string")
	w.about["format-version"] = 3
	first, second := vectorBlob(t, 1, 2), vectorBlob(t, 0)
	w.file("v.puffin", append(append([]byte("PFA1"), first...), second...))
	vector := func(name string, rows, offset, length int) object {
		return w.data("v.puffin", rows, object{"content": 1, "file_format": "PUFFIN", "referenced_data_file": w.root + "/" + name, "content_offset": int64(offset), "content_size_in_bytes": int64(length)})
	}
	w.commit(w.numbers("a.parquet", 0, nil), w.numbers("b.parquet", 4, nil))
	w.commit(w.positions("d1.parquet", map[string][]int64{"a.parquet": {0}, "b.parquet": {3}}, nil))
	w.commit(vector("a.parquet", 2, 4, len(first)))
	require.Equal(t, lines(0, 3, 4, 5, 6), kept(t, w, iceberg.Options{}))
	w.commit(vector("b.parquet", 1, 4+len(first), len(second)))
	require.Equal(t, lines(0, 3, 5, 6, 7), kept(t, w, iceberg.Options{}))
	manifests := w.manifests
	for text, e := range map[string]object{
		"has two deletion vectors":    vector("a.parquet", 2, 4, len(first)),
		"no file of data or no place": w.data("v.puffin", 1, object{"content": 1, "file_format": "PUFFIN"}),
	} {
		w.manifests = manifests
		w.commit(e)
		w.fail(iceberg.Options{}, iceberg.ErrMetadata, text)
	}
	w.manifests = manifests[:1]
	w.commit(vector("a.parquet", 1, 4, len(first)))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "v.puffin: the deletion vector: it has 2 rows, in the manifest 1")
	w.manifests = manifests[:1]
	w.commit(vector("a.parquet", 2, 5, len(first)))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "v.puffin")
	w.manifests = manifests[:1]
	w.commit(vector("a.parquet", 2, 4, 2<<30))
	w.fail(iceberg.Options{}, iceberg.ErrLimit, "the limit is")
	w.manifests = manifests[:1]
	w.commit(vector("a.parquet", 2, 1<<20, len(first)))
	w.fail(iceberg.Options{}, iceberg.ErrDeletes, "v.puffin")
}

// Equality deletes apply to older files: those of their partition, or without one all. Null equals null.
func TestEqualityDeletes(t *testing.T) {
	w := newTable(t, "1 n long\n2 s string")
	equality := func(name, rows string, fields []arrow.Field, ids []int32, more object) object {
		w.parquet(name, fields, rows)
		return w.data(name, 1, merged(object{"content": 2, "equality_ids": ids}, more))
	}
	byNumber := func(name, rows string, more object) object {
		return equality(name, rows, []arrow.Field{long(1, "n")}, []int32{1}, more)
	}
	w.commit(w.numbers("a.parquet", 0, nil))
	w.commit(byNumber("e1.parquet", `[{"n": 0}, {"n": 3}, {"n": 9}]`, nil), w.numbers("b.parquet", 3, nil))
	require.Equal(t, lines(1, 2, 3, 4, 5, 6), kept(t, w, iceberg.Options{}))
	w.commit(equality("e2.parquet", `[{"s": "e", "n": 4}, {"s": "x", "n": 5}]`, []arrow.Field{text(2, "s"), long(1, "n")}, []int32{2, 1}, nil))
	require.Equal(t, lines(1, 2, 3, 5, 6), kept(t, w, iceberg.Options{}))
	w.parquet("c.parquet", []arrow.Field{long(1, "n"), text(2, "s")}, `[{"n": 7, "s": null}, {"n": 8, "s": "i"}]`)
	w.commit(w.data("c.parquet", 2, nil))
	w.commit(equality("e3.parquet", `[{"s": null}]`, []arrow.Field{text(2, "s")}, []int32{2}, nil))
	require.Equal(t, lines(1, 2, 3, 5, 6, 8), kept(t, w, iceberg.Options{}))

	// By a column that was dropped, and one that was added to the schema later and is null in older files.
	w.schema(1, "1 n long\n3 added string")
	require.Equal(t, lines(1, 2, 3, 5, 6, 8), kept(t, w, iceberg.Options{}))
	w.commit(equality("e4.parquet", `[{"s": "b"}]`, []arrow.Field{text(2, "s")}, []int32{2}, nil))
	table := w.open(iceberg.Options{})
	require.Equal(t, 2, table.Schema().NumFields())
	engine := openEngine(t)
	require.Equal(t, []string{`{"added":null,"n":2}`, `{"added":null,"n":3}`, `{"added":null,"n":5}`, `{"added":null,"n":6}`, `{"added":null,"n":8}`}, rowsOf(t, table.Query(engine)))
	require.Equal(t, []string{`{"c":3}`}, rowsOf(t, table.Query(engine).Filter(gpuframe.Col("n").Gt(3)).Select(gpuframe.Count().As("c"))))

	// Deletes of a partition apply to its files, the others to all.
	w.schema(2, "1 n long\n2 s string")
	w.spec(1, `1000 b bucket[4] 1 "int"`)
	bucket := func(n int) object { return object{"spec": 1, "partition": object{"b": n}} }
	w.commit(w.numbers("p0.parquet", 10, bucket(0)), w.numbers("p1.parquet", 10, bucket(1)))
	w.commit(byNumber("e5.parquet", `[{"n": 10}]`, bucket(1)), byNumber("e6.parquet", `[{"n": 11}, {"n": 8}]`, object{"spec": 0}))
	require.Equal(t, lines(10, 12, 12, 13, 13, 2, 3, 5, 6), kept(t, w, iceberg.Options{}))
}

func TestUnsupportedEqualityDeletes(t *testing.T) {
	for _, test := range []struct {
		ids       []int32
		condition error
		text      string
	}{
		{[]int32{3}, iceberg.ErrUnsupported, `by the column "x" of float64`},
		{[]int32{9}, iceberg.ErrUnsupported, "by the field 9"},
		{nil, iceberg.ErrMetadata, "no columns of its equality deletes"},
	} {
		w := newTable(t, "1 n long\n2 s string\n3 x double")
		w.commit(w.numbers("a.parquet", 0, nil))
		w.parquet("e.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}]`)
		w.commit(w.data("e.parquet", 1, object{"content": 2, "equality_ids": test.ids}))
		w.fail(iceberg.Options{}, test.condition, "e.parquet: ")
		w.fail(iceberg.Options{}, test.condition, test.text)
	}
}
