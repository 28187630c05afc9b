package delta_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/delta"
)

// vectorBytes are the bytes of a deletion vector, which another type of the library for bitmaps writes.
func vectorBytes(t *testing.T, rows ...uint64) []byte {
	bitmap := roaring64.BitmapOf(rows...)
	bitmap.RunOptimize()
	var portable bytes.Buffer
	_, err := bitmap.WriteTo(&portable)
	require.NoError(t, err)
	return append(binary.LittleEndian.AppendUint32(nil, 1681511377), portable.Bytes()...)
}

// framed are the bytes of a file with a vector.
func framed(vector []byte) string {
	file := binary.BigEndian.AppendUint32([]byte{1}, uint32(len(vector)))
	file = append(file, vector...)
	return string(binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(vector)))
}

func vectorAction(storage, path string, offset, size, cardinality int) string {
	return fmt.Sprintf(`, "stats": "{\"numRecords\": 3}", "deletionVector": {"storageType": %q, "pathOrInlineDv": %q, "offset": %d, "sizeInBytes": %d, "cardinality": %d}`, storage, path, offset, size, cardinality)
}

// The vectors of the protocol's examples are at their places.
func TestDeletionVectors(t *testing.T) {
	engine := openEngine(t)
	w := newTable(t)
	w.parquet("a.parquet", []arrow.Field{long("n")}, `[{"n": 0}, {"n": 1}, {"n": 2}]`)
	vector := vectorBytes(t, 0, 2)
	w.file("ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin", framed(vector))
	w.file("one.bin", framed(vectorBytes(t, 1)))
	read := func(more string) []string {
		w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", more))
		table := w.open(delta.Options{})
		require.EqualValues(t, 3, table.Files()[0].Rows)
		return rowsOf(t, table.Query(engine))
	}
	require.Equal(t, []string{`{"n":1}`}, read(vectorAction("u", "ab^-aqEH.-t@S}K{vb[*k^", 1, len(vector), 2)))
	require.Equal(t, []string{`{"n":0}`, `{"n":2}`}, read(vectorAction("p", "file://"+w.root+"/one.bin", 1, len(vectorBytes(t, 1)), 1)))
	inline := `, "stats": "{\"numRecords\": 3}", "deletionVector": {"storageType": "i", "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "sizeInBytes": 40, "cardinality": 6}`
	w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", inline))
	w.fail(delta.Options{}, delta.ErrVector, "has row 3, the file 3 rows") // it has the rows 3, 4, 7, 11, 18 and 29
	inline = strings.Replace(inline, `\"numRecords\": 3`, "", 1)
	w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", inline))
	_, err := linesOf(t.Context(), w.open(delta.Options{}).Query(engine))
	require.ErrorContains(t, err, "row 3 is deleted, the file has 3 rows")

	// A vector is replaced by a remove of the old pair and an add of the new one, in any order.
	w.commit(1, add("a.parquet", inline), `{"remove": {"path": "a.parquet", "deletionVector": {"storageType": "p", "pathOrInlineDv": "x"}}}`)
	w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", vectorAction("u", "ab^-aqEH.-t@S}K{vb[*k^", 1, len(vector), 2)))
	require.Len(t, w.open(delta.Options{}).Files(), 2)
	w.commit(1, add("a.parquet", inline), `{"remove": {"path": "a.parquet", "deletionVector": {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 1}}}`)
	require.Len(t, w.open(delta.Options{}).Files(), 1)
}

func TestDamagedVectors(t *testing.T) {
	w := newTable(t)
	vector := vectorBytes(t, 1)
	fail := func(more, message string, condition error) {
		t.Helper()
		w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", more))
		w.fail(delta.Options{}, condition, message)
	}
	path := "file://" + w.root + "/v.bin"
	damaged := []byte(framed(vector))
	damaged[9] ^= 1
	w.file("v.bin", string(damaged))
	fail(vectorAction("p", path, 1, len(vector), 1), "its checksum is", delta.ErrVector)
	w.file("v.bin", framed(vector))
	fail(vectorAction("p", path, 1, len(vector), 2), "it has 1 rows, in the log 2", delta.ErrVector)
	fail(vectorAction("p", path, 1, len(vector)-1, 1), "by its frame", delta.ErrVector)
	fail(vectorAction("p", path, 1, len(vector)+9, 1), "expected", delta.ErrVector)
	fail(vectorAction("p", path, -1, len(vector), 1), "from byte -1 on", delta.ErrVector)
	fail(vectorAction("p", path, 1, 2<<30, 1), "the limit is", delta.ErrLimit)
	fail(vectorAction("x", path, 1, 1, 1), `the storage type "x"`, delta.ErrUnsupported)
	fail(vectorAction("u", "short", 1, 1, 1), "has no UUID", delta.ErrVector)
	fail(vectorAction("i", "abc", 1, 1, 1), "a multiple of 5", delta.ErrVector)
	fail(vectorAction("i", "abc~e", 1, 1, 1), `the character '~'`, delta.ErrVector)
	fail(vectorAction("i", "#####", 1, 1, 1), "above 32 bits", delta.ErrVector)
	fail(vectorAction("i", "abcde", 1, 9, 1), "it has 4 bytes, expected 9", delta.ErrVector)
	fail(vectorAction("i", "abcde", 1, 4, 1), "does not begin with 1681511377", delta.ErrVector)
	w.file("v.bin", framed(append(bytes.Clone(vector), 0)))
	fail(vectorAction("p", path, 1, len(vector)+1, 1), "1 bytes are behind the bitmap", delta.ErrVector)
	w.file("v.bin", framed(vector[:len(vector)-1]))
	fail(vectorAction("p", path, 1, len(vector)-1, 1), "bucket 0", delta.ErrVector)
}
