package arrowdev

import (
	"encoding/binary"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// maximumSchemaText bounds the texts that are compared before a schema is read.
const maximumSchemaText = 1 << 15

// appendSchema appends the contents of a schema's structs, without the addresses: two
// schemas of the same text mean the same. It returns false for a schema that must be
// parsed: an invalid or large one, or one with extension types, which depend on the
// current registry.
func appendSchema(text []byte, s *cabi.Schema, depth int) ([]byte, bool) {
	const most = maximumSchemaText / 8
	if liveSchema(s) != nil || depth > format.MaximumDepth || len(text) > maximumSchemaText ||
		s.NumChildren < 0 || s.NumChildren > most || s.Format == 0 {
		return text, false
	}
	dictionary := byte(0)
	if s.Dictionary != 0 {
		dictionary = 1
	}
	text = append(text, dictionary)
	text = binary.NativeEndian.AppendUint64(text, uint64(s.Flags))
	text = binary.NativeEndian.AppendUint64(text, uint64(s.NumChildren))
	text = appendString(text, s.Format)
	text = appendString(text, s.Name)
	text, plain := appendMetadata(text, s.Metadata)
	if !plain {
		return text, false
	}
	if s.NumChildren > 0 {
		if checkTable(s.Children) != nil {
			return text, false
		}
		for _, child := range unsafe.Slice((*uintptr)(address.Pointer(s.Children)), s.NumChildren) {
			if text, plain = appendSchema(text, schemaAt(child), depth+1); !plain {
				return text, false
			}
		}
	}
	if s.Dictionary != 0 {
		return appendSchema(text, schemaAt(s.Dictionary), depth+1)
	}
	return text, len(text) <= maximumSchemaText // a longer text may hold a truncated string
}

// appendString appends a C string with its terminator, unless it is too long. NULL is
// equivalent to an empty string.
func appendString(text []byte, at uintptr) []byte {
	if at == 0 {
		return append(text, 0)
	}
	for start, i := address.Pointer(at), 0; len(text) <= maximumSchemaText; i++ {
		c := *(*byte)(unsafe.Add(start, i))
		if text = append(text, c); c == 0 {
			break
		}
	}
	return text
}

// appendMetadata appends a metadata blob. The counts in the blob determine its
// length.
func appendMetadata(text []byte, at uintptr) ([]byte, bool) {
	if at == 0 {
		return append(text, 0, 0, 0, 0), true // no pairs
	}
	blob := address.Pointer(at)
	take := func(count int) bool {
		if count < 0 || count > maximumSchemaText-len(text) {
			return false
		}
		if count > 0 { // a blob may end at an empty text
			text = append(text, unsafe.Slice((*byte)(blob), count)...)
			blob = unsafe.Add(blob, count)
		}
		return true
	}
	pairs := numberAt(blob)
	if !take(4) {
		return text, false
	}
	for range 2 * pairs {
		length := numberAt(blob)
		if !take(4) || !take(length) || string(text[len(text)-length:]) == format.ExtensionName {
			return text, false
		}
	}
	return text, true
}

// numberAt reads a count or a length of a blob.
func numberAt(at unsafe.Pointer) int {
	return int(int32(binary.NativeEndian.Uint32((*[4]byte)(at)[:])))
}
