package chunks_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// Pages of all lengths, of one part and of several, are compared with the checksum that hash/crc32 finds.
func TestChecksums(t *testing.T) {
	r := property.Random(t)
	about := pages.Flat{Physical: parquetformat.Int64, Width: 8, Type: arrow.PrimitiveTypes.Int64}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		sizes := []int{0, 1, 2, 31, 33, 1000, 8191, 8192, 8193, 20_000}
		if !devicetest.Emulated(dev) || !testing.Short() {
			sizes = append(sizes, 100_000)
		}
		for _, rows := range sizes {
			body := make([]byte, 8*rows)
			for i := range body {
				body[i] = byte(r.Uint32())
			}
			about.Values = int64(rows)
			for _, wrong := range []bool{false, true} {
				page := pagestest.Page{Body: body, Values: rows, Uncompressed: int64(len(body)), Checksum: true, Wrong: wrong}.Bytes()
				c := chunks.Column{Type: about.Type, Chunks: []chunks.Chunk{{About: about, Bytes: page, First: min(1, int64(rows)), Rows: int64(max(rows-1, 0))}}}
				decoded, err := chunks.Decode(t.Context(), m, []chunks.Column{c}, chunks.Options{})
				if wrong && rows > 1 {
					require.ErrorIs(t, err, pages.ErrDamaged, "%d rows", rows)
					require.ErrorContains(t, err, fmt.Sprintf("page 0: the checksum of a page is %08x, by its header ", crc32.ChecksumIEEE(body)), "%d rows", rows)
					continue
				}
				require.NoError(t, err, "%d rows", rows)
				values, err := decoded[0].Array(t.Context())
				require.NoError(t, err)
				for i, value := range values.(*array.Int64).Int64Values() {
					require.Equal(t, int64(binary.LittleEndian.Uint64(body[8*i+8:])), value)
				}
				values.Release()
				require.NoError(t, decoded[0].Release())
			}
		}
	})
}
