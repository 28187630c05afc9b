package lz4blocks_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	_ "github.com/gpuframe/gpuframe/internal/io/lz4blocks"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// arrow-go decodes pages of blocks with the lengths of Hadoop, and without, and panics of damaged ones.
func TestCodecsOfArrow(t *testing.T) {
	plain := []byte(strings.Repeat("value of a column, ", 500))
	block := make([]byte, lz4.CompressBlockBound(len(plain)))
	n, err := lz4.CompressBlock(plain, block, nil)
	require.NoError(t, err)
	block = block[:n]
	lengths := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(plain))), uint32(n))
	for name, c := range map[string]struct {
		codec parquetformat.Codec
		data  []byte
	}{
		"raw": {parquetformat.LZ4Raw, block}, "block": {parquetformat.LZ4, block}, "Hadoop": {parquetformat.LZ4, append(lengths, block...)},
	} {
		codec, err := compress.GetCodec(compress.Compression(c.codec))
		require.NoError(t, err, name)
		require.Equal(t, plain, codec.Decode(make([]byte, len(plain)), c.data), name)
		require.Panics(t, func() { codec.Decode(make([]byte, len(plain)), c.data[:len(c.data)/2]) }, name)
	}
}
