package parquetformat_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// The footers of files of several writers have the content that arrow-go reads.
func TestFootersOfOthers(t *testing.T) {
	var names []string
	for _, folder := range []string{"../source/testdata", "../../../lake/iceberg/testdata"} {
		require.NoError(t, filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
			if filepath.Ext(name) == ".parquet" {
				names = append(names, name)
			}
			return err
		}))
	}
	compared := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		reader, err := openByArrow(data)
		if err != nil {
			continue
		}
		requireFooter(t, reader.MetaData(), pagestest.Footer(t, data), name)
		compared++
	}
	require.Greater(t, compared, 30)
}

// openByArrow returns an error for types of later versions of the format, of which arrow-go panics.
func openByArrow(data []byte) (reader *file.Reader, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return file.NewParquetReader(bytes.NewReader(data))
}

func requireFooter(t *testing.T, want *metadata.FileMetaData, got *parquetformat.File, name string) {
	require.Equal(t, want.NumRows, got.Rows, name)
	require.Equal(t, want.GetCreatedBy(), got.CreatedBy, name)
	require.Len(t, got.Entries, len(want.KeyValueMetadata()), name)
	for _, pair := range want.KeyValueMetadata() {
		value, ok := got.Value(pair.Key)
		require.True(t, ok, name)
		require.Equal(t, pair.GetValue(), value, name)
	}
	require.Len(t, got.Schema.Columns, want.Schema.NumColumns(), name)
	for i, c := range got.Schema.Columns {
		column := want.Schema.Column(i)
		place := fmt.Sprintf("%s: %s", name, column.Path())
		require.Equal(t, []string(column.ColumnPath()), c.Path(), place)
		require.Equal(t, [2]int16{column.MaxDefinitionLevel(), column.MaxRepetitionLevel()}, [2]int16{c.MaxDefinition, c.MaxRepetition}, place)
		require.EqualValues(t, column.PhysicalType(), c.Physical, place)
		require.EqualValues(t, column.SortOrder(), c.Order(), place)
		require.Equal(t, column.ColumnOrder() == parquet.ColumnOrders.TypeDefinedOrder, c.Ordered, place)
		require.Equal(t, want.Schema.Root().FieldIndexByField(want.Schema.ColumnRoot(i)), c.Field, place)
	}
	require.Len(t, got.Groups, len(want.GetRowGroups()), name)
	for g, group := range want.GetRowGroups() {
		require.Equal(t, group.GetNumRows(), got.Groups[g].Rows, name)
		for i := range group.GetColumns() {
			requireChunk(t, want, g, i, &got.Groups[g].Chunks[i], got, fmt.Sprintf("%s, row group %d, column %d", name, g, i))
		}
	}
}

func requireChunk(t *testing.T, file *metadata.FileMetaData, group, column int, got *parquetformat.Chunk, read *parquetformat.File, place string) {
	chunk := file.GetRowGroups()[group].GetColumns()[column]
	want := chunk.GetMetaData()
	var encodings []int
	for _, e := range want.GetEncodings() {
		encodings = append(encodings, int(e))
	}
	require.Equal(t, encodings, got.Encodings, place)
	require.Len(t, got.Counts, len(want.GetEncodingStats()), place)
	for i, count := range want.GetEncodingStats() {
		require.Equal(t, parquetformat.PageCount{Kind: int(count.PageType), Encoding: int(count.Encoding), Count: int(count.Count)}, got.Counts[i], place)
	}
	require.EqualValues(t, want.GetCodec(), got.Codec, place)
	require.Equal(t, [5]int64{want.GetNumValues(), want.GetTotalUncompressedSize(), want.GetTotalCompressedSize(), want.GetDataPageOffset(), want.GetDictionaryPageOffset()},
		[5]int64{got.Values, got.Uncompressed, got.Compressed, got.DataPage, got.DictionaryPage}, place)
	require.Equal(t, want.IsSetDictionaryPageOffset(), got.HasDictionary, place)
	require.Equal(t, want.GetBloomFilterOffset(), got.Bloom, place)
	require.Equal(t, want.IsSetBloomFilterOffset(), got.HasBloom, place)
	require.Equal(t, [4]int64{chunk.GetColumnIndexOffset(), int64(chunk.GetColumnIndexLength()), chunk.GetOffsetIndexOffset(), int64(chunk.GetOffsetIndexLength())},
		[4]int64{got.ColumnIndex.Offset, int64(got.ColumnIndex.Length), got.OffsetIndex.Offset, int64(got.OffsetIndex.Length)}, place)
	require.Equal(t, chunk.IsSetColumnIndexOffset() && chunk.IsSetColumnIndexLength(), got.ColumnIndex.IsKnown(), place)
	require.Equal(t, want.IsSetStatistics(), got.Statistics != nil, place)
	if got.Statistics == nil {
		return
	}
	s := want.GetStatistics()
	require.Equal(t, [4][]byte{s.GetMin(), s.GetMax(), s.GetMinValue(), s.GetMaxValue()},
		[4][]byte{got.Statistics.Min, got.Statistics.Max, got.Statistics.MinValue, got.Statistics.MaxValue}, place)
	about, err := file.RowGroup(group).ColumnChunk(column)
	require.NoError(t, err, place)
	correct, err := about.StatsSet()
	require.NoError(t, err, place)
	require.Equal(t, correct, read.Schema.Columns[column].Correct(got.Statistics, read.CreatedBy), place)
}

// The statistics that are right are those of arrow-go, for versions around those with faults.
func TestCorrect(t *testing.T) {
	leaves := map[string]struct {
		node    parquetformat.Node
		logical schema.LogicalType
	}{
		"numbers":  {parquetformat.Node{Physical: parquetformat.Int32}, schema.NoLogicalType{}},
		"unsigned": {parquetformat.Node{Physical: parquetformat.Int32, Logical: parquetformat.Logical{Kind: parquetformat.Integer, Bits: 32}}, schema.NewIntLogicalType(32, false)},
		"texts":    {parquetformat.Node{Physical: parquetformat.ByteArray, Logical: parquetformat.Logical{Kind: parquetformat.String}}, schema.StringLogicalType{}},
		"bytes":    {parquetformat.Node{Physical: parquetformat.FixedLenByteArray, Length: 16}, schema.NoLogicalType{}},
		"decimals": {parquetformat.Node{Physical: parquetformat.FixedLenByteArray, Length: 16, Logical: parquetformat.Logical{Kind: parquetformat.Decimal, Precision: 30}}, schema.NewDecimalLogicalType(30, 0)},
	}
	property.Check(t, func(r *rapid.T) {
		createdBy := rapid.SampledFrom([]string{"parquet-mr", "parquet-cpp", "parquet-cpp-arrow", "Parquet-MR", "other"}).Draw(r, "writer") +
			fmt.Sprintf(" version %d.%d.%d", rapid.IntRange(0, 4).Draw(r, "major"), rapid.IntRange(0, 11).Draw(r, "minor"), rapid.IntRange(0, 1).Draw(r, "patch")) +
			rapid.SampledFrom([]string{"", "-SNAPSHOT", " (build 0a1b)"}).Draw(r, "rest")
		name := rapid.SampledFrom([]string{"numbers", "unsigned", "texts", "bytes", "decimals"}).Draw(r, "values")
		low, high := []byte{1}, []byte{byte(rapid.IntRange(1, 2).Draw(r, "high"))}
		leaf := leaves[name]
		want := metadata.NewAppVersion(createdBy).HasCorrectStatistics(parquet.Type(leaf.node.Physical), leaf.logical,
			metadata.EncodedStatistics{HasMin: true, HasMax: true, Min: low, Max: high}, schema.SortOrder(leaf.node.Order()))
		require.Equal(r, want, leaf.node.Correct(&parquetformat.Statistics{MinValue: low, MaxValue: high}, createdBy), "%s of %s", name, createdBy)
	})
}

// withFooter returns a file without rows.
func withFooter(footer []byte) []byte {
	data := append([]byte(parquetformat.Magic), footer...)
	return append(append(data, byte(len(footer)), byte(len(footer)>>8), 0, 0), parquetformat.Magic...)
}

func read(data []byte) (*parquetformat.File, error) {
	tail, err := parquetformat.ReadTail(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return parquetformat.Read(tail)
}

// Claims of footers that would take memory, and other damage, are errors.
func TestDamagedFooters(t *testing.T) {
	children := []byte{
		0x15, 2, // the version
		0x19, 0x1c, // a list of one struct
		0x48, 1, 'r', // its name
		0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0, // 2,147,483,647 children
		0,
	}
	column := []byte{0x19, 0x2c, 0x48, 1, 'r', 0x15, 2, 0, 0x15, 2, 0x38, 1, 'a', 0} // the root with a column of INT32
	for want, data := range map[string][]byte{
		"2147483647":                  withFooter(children),
		"ends early":                  withFooter([]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0x0f, 0}),
		"has no schema":               withFooter([]byte{0x15, 2, 0}),
		"too short":                   []byte("PAR1PAR1"),
		`ends with "XXXX"`:            []byte("PAR1........XXXX"),
		"a footer of 117":             []byte("PAR1u\x00\x00\x00PAR1"),
		"in no group":                 withFooter([]byte{0x29, 0x2c, 0x48, 1, 'r', 0, 0x48, 1, 'a', 0, 0}),
		"has 0 columns, the schema 1": withFooter(append(append([]byte{0x19 + 0x10}, column[1:]...), 0x29, 0x1c, 0, 0)),
		"has no metadata":             withFooter(append(append([]byte{0x19 + 0x10}, column[1:]...), 0x29, 0x1c, 0x19, 0x1c, 0, 0, 0)),
	} {
		_, err := read(data)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, thrift.ErrDamaged, want)
	}
	_, err := read([]byte("PAR1\x00\x00\x00\x00\x00\x00\x00\x00PARE"))
	require.ErrorIs(t, err, parquetformat.ErrEncrypted)
}

// A footer of few bytes with many columns in deep groups takes memory for the columns, not for the path of each.
func TestManyDeepColumns(t *testing.T) {
	const groups, columns = 250, 20_000
	data := binary.AppendUvarint([]byte{0x29, 0xfc}, groups+columns)
	for i := range groups {
		children := uint64(1)
		if i == groups-1 {
			children = columns
		}
		data = append(binary.AppendUvarint(append(data, 0x55), 2*children), 0)
	}
	data = append(data, make([]byte, columns+1)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := parquetformat.Read(data)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, f.Schema.Columns, columns)
	require.Len(t, f.Schema.Columns[0].Path(), groups)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// FuzzRead: any footer is read, or gives an error. Without row groups it is the same after it was written.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"bloom-duckdb-1.4.4", "others/lz4-raw", "others/duckdb-byte-stream-split"} {
		data, err := os.ReadFile("../source/testdata/" + name + ".parquet")
		require.NoError(f, err)
		tail, err := parquetformat.ReadTail(bytes.NewReader(data), int64(len(data)))
		require.NoError(f, err)
		f.Add(tail)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := parquetformat.Read(data)
		if err != nil {
			return
		}
		first.Schema.Root.SplitLevels()
		for _, column := range first.Schema.Root.Children {
			if column.Check() != nil {
				column.Strip()
			}
		}
		encoded := parquetformat.Encode(first.Schema, first.Rows, func(t *thrift.Encoder) { t.Elements(thrift.Struct, 0, nil) }, first.Entries, first.CreatedBy)
		again, err := parquetformat.Read(encoded)
		require.NoError(t, err)
		require.Len(t, again.Schema.Columns, len(first.Schema.Columns))
		require.Equal(t, first.CreatedBy, again.CreatedBy)
	})
}

// Without its package, the error of Brotli names what to import.
func TestMissingLibrary(t *testing.T) {
	_, err := parquetformat.LibraryOf(parquetformat.Brotli)
	require.ErrorIs(t, err, parquetformat.ErrCodec)
	require.ErrorContains(t, err, `import _ "github.com/gpuframe/gpuframe/compression/brotli"`)
	_, err = parquetformat.LibraryOf(parquetformat.LZO)
	require.ErrorIs(t, err, parquetformat.ErrCodec)
}
