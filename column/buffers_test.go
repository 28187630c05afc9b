package column_test

import (
	"encoding/binary"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

func buffer(bytes []byte) *arrowmemory.Buffer { return arrowmemory.NewBufferBytes(bytes) }

func put(bytes []byte, width int, value int) []byte {
	switch width {
	case 1:
		return append(bytes, byte(value))
	case 2:
		return binary.NativeEndian.AppendUint16(bytes, uint16(value))
	case 4:
		return binary.NativeEndian.AppendUint32(bytes, uint32(value))
	}
	return binary.NativeEndian.AppendUint64(bytes, uint64(value))
}
