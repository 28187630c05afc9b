package source_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Lengths that a message of an Arrow stream claims are tested before memory is allocated.
func TestClaimsOfStreams(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	fails := func(data []byte, want string) {
		t.Helper()
		s, err := source.IPCReader("data", bytes.NewReader(data))
		if err == nil {
			err = drain(t.Context(), s, m)
		}
		require.ErrorIs(t, err, source.ErrContents)
		require.ErrorContains(t, err, want)
	}
	data := ipcOf(t, false, numbered(0, 30))
	second := 8 + binary.LittleEndian.Uint32(data[4:]) // after the schema
	for claim, want := range map[uint32]string{0x7ffffff0: "ends early", 0x80000000: "has a head of"} {
		damaged := bytes.Clone(data)
		binary.LittleEndian.PutUint32(damaged[second+4:], claim)
		fails(damaged, want)
	}
	// Lengths of buffers are in the data as they are: 30 or 20 values of 8 bytes.
	replaced := func(data []byte, old, new uint64) []byte {
		from, to := binary.LittleEndian.AppendUint64(nil, old), binary.LittleEndian.AppendUint64(nil, new)
		require.Contains(t, string(data), string(from))
		return bytes.ReplaceAll(data, from, to)
	}
	damaged := replaced(data, 240, 3<<30)
	fails(damaged, "of a message has")
	// arrow-go reads beyond the list of buffers if that is too short.
	list := bytes.Index(damaged[second:], append([]byte{5, 0, 0, 0}, make([]byte, 16)...))
	require.Positive(t, list)
	damaged[int(second)+list] = 0
	fails(damaged, "a buffer of 3221225472 bytes")
	for _, codec := range []ipc.Option{ipc.WithLZ4(), ipc.WithZstd()} {
		fails(replaced(variedIPC(t, false, []arrow.DataType{arrow.PrimitiveTypes.Int64}, codec), 160, 3<<30), "after decompression")
	}
}

// A page header without the struct that the page type needs is an error. arrow-go panics:
// for columns in structs on another goroutine.
func TestPagesWithoutHeader(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	data := variedParquet(t, []arrow.DataType{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64})})
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	page := data[reader.MetaData().GetRowGroups()[0].GetColumns()[0].MetaData.GetDataPageOffset():]
	page[bytes.IndexByte(page, 0x2c)] = 0x3c // the field of another kind
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.ErrorIs(t, drain(t.Context(), s, m), source.ErrContents)
}

// Delta encodings can be read in steps, and with pinned memory: arrow-go loses values between
// steps, and keeps a buffer.
func TestDeltaEncodings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for encoding, types := range map[parquet.Encoding][]arrow.DataType{
			parquet.Encodings.DeltaBinaryPacked:    {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Timestamp_us},
			parquet.Encodings.DeltaLengthByteArray: {arrow.BinaryTypes.String, arrow.BinaryTypes.Binary},
			parquet.Encodings.DeltaByteArray:       {arrow.BinaryTypes.String},
		} {
			want := varied(types, 60)
			data := variedParquet(t, types, parquet.WithDictionaryDefault(false), parquet.WithEncoding(encoding))
			s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			row := int64(0)
			for _, record := range read(t, s, m, source.Request{BatchRows: 7}) {
				part := want.NewSlice(row, row+record.NumRows())
				require.True(t, array.RecordEqual(part, record), "%v, from row %d on", encoding, row)
				row += record.NumRows()
			}
			require.EqualValues(t, 60, row)
		}
	})
}
