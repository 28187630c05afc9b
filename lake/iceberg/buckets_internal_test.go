package iceberg

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// The hashes are those of the appendix of Iceberg's specification.
func TestMurmur3(t *testing.T) {
	number := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	for want, data := range map[int32][]byte{
		2017239379: number(34), -653330422: number(17486), -662762989: number(81068000000), -2047944441: number(1510871468000000),
		1210000089: []byte("iceberg"), -188683207: {0, 1, 2, 3}, -500754589: {0x05, 0x8c}, // the decimal 14.20
	} {
		require.Equal(t, want, int32(murmur3(data)), "%x", data)
	}
	require.True(t, hasBucket(bucketOf(number(34), 16), 16)(int64(34)))
	require.False(t, hasBucket(bucketOf(number(34), 16)+1, 16)(int64(34)))
	require.True(t, hasBucket(1, 16)(1.5))
}
