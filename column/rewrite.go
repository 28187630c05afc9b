package column

import (
	"encoding/binary"
)

// rewriting computes elements from the same number of elements of a source; first is
// the number of the first of them. Both sides may be unaligned, so elements are read
// and written as bytes.
type rewriting func(destination, source []byte, first int)

// widestRewritten is the width of the widest element that is rewritten.
const widestRewritten = viewBytes

// rewrite returns a function that fills any range of bytes with the rewritten
// elements of the source.
func rewrite(source []byte, width int, elements rewriting) func(destination []byte, offset uint64) {
	return func(destination []byte, offset uint64) {
		first := int(offset) / width
		var element [widestRewritten]byte
		part := func(from int) {
			elements(element[:width], source[first*width:][:width], first)
			destination = destination[copy(destination, element[from:width]):]
			first++
		}
		if from := int(offset) % width; from != 0 {
			part(from)
		}
		count := len(destination) / width
		elements(destination[:count*width], source[first*width:][:count*width], first)
		destination, first = destination[count*width:], first+count
		if len(destination) > 0 {
			part(0)
		}
	}
}

// shifted adds a number to integers of 1, 2, 4 or 8 bytes.
func shifted(width int, by uint64) rewriting {
	switch width {
	case 1:
		return func(destination, source []byte, _ int) {
			for i := range destination {
				destination[i] = source[i] + byte(by)
			}
		}
	case 2:
		return func(destination, source []byte, _ int) {
			for len(destination) >= 2 && len(source) >= 2 {
				binary.NativeEndian.PutUint16(destination, binary.NativeEndian.Uint16(source)+uint16(by))
				destination, source = destination[2:], source[2:]
			}
		}
	case 4:
		return func(destination, source []byte, _ int) {
			for len(destination) >= 4 && len(source) >= 4 {
				binary.NativeEndian.PutUint32(destination, binary.NativeEndian.Uint32(source)+uint32(by))
				destination, source = destination[4:], source[4:]
			}
		}
	}
	return func(destination, source []byte, _ int) {
		for len(destination) >= 8 && len(source) >= 8 {
			binary.NativeEndian.PutUint64(destination, binary.NativeEndian.Uint64(source)+by)
			destination, source = destination[8:], source[8:]
		}
	}
}

// transposed replaces indices of 1, 2, 4 or 8 bytes by their entry in a table. The
// index of a null may be out of range; it becomes zero.
func transposed(width int, places []int32) rewriting {
	return func(destination, source []byte, _ int) {
		for i := 0; i < len(destination); i += width {
			place := uint64(0)
			if index := indexAt(source[i:], width); index < uint64(len(places)) {
				place = uint64(places[index])
			}
			putIndex(destination[i:], width, place)
		}
	}
}

// A view has these parts: its length and, if the value is not inline, the number of a
// data buffer and a position in it.
const (
	inlineViewBytes = 12
	viewBuffer      = 8
	viewPosition    = 12
)

// viewsBehind adds a number of preceding data buffers to the buffer numbers of views.
func viewsBehind(buffers uint32) rewriting {
	return func(destination, source []byte, _ int) {
		copy(destination, source)
		for len(destination) >= viewBytes {
			if int32(binary.NativeEndian.Uint32(destination)) > inlineViewBytes {
				number := destination[viewBuffer:]
				binary.NativeEndian.PutUint32(number, binary.NativeEndian.Uint32(number)+buffers)
			}
			destination = destination[viewBytes:]
		}
	}
}

// unionOffsets adds the preceding elements of the child to the offsets of a dense
// union, by type id.
func unionOffsets(ids []byte, behind *[256]uint32) rewriting {
	return func(destination, source []byte, first int) {
		for _, id := range ids[first:][:len(source)/4] {
			binary.NativeEndian.PutUint32(destination, binary.NativeEndian.Uint32(source)+behind[id])
			destination, source = destination[4:], source[4:]
		}
	}
}

// runEndsWithin makes run ends relative to an offset, cuts them to a length, and adds
// the preceding elements.
func runEndsWithin(width, offset, length, behind int) rewriting {
	return func(destination, source []byte, _ int) {
		for i := 0; i < len(destination); i += width {
			end := signedAt(source[i:], width) - int64(offset)
			putSigned(destination[i:], width, min(max(end, 0), int64(length))+int64(behind))
		}
	}
}

// indexAt reads an integer of 1, 2, 4 or 8 bytes as an unsigned number.
func indexAt(source []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(source[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(source))
	case 4:
		return uint64(binary.NativeEndian.Uint32(source))
	}
	return binary.NativeEndian.Uint64(source)
}

// putIndex writes an integer of 1, 2, 4 or 8 bytes.
func putIndex(destination []byte, width int, value uint64) {
	if width == 1 {
		destination[0] = byte(value)
		return
	}
	putSigned(destination, width, int64(value))
}

// signedAt reads an integer of 2, 4 or 8 bytes.
func signedAt(source []byte, width int) int64 {
	switch width {
	case 2:
		return int64(int16(binary.NativeEndian.Uint16(source)))
	case 4:
		return int64(int32(binary.NativeEndian.Uint32(source)))
	}
	return int64(binary.NativeEndian.Uint64(source))
}

// putSigned writes an integer of 2, 4 or 8 bytes.
func putSigned(destination []byte, width int, value int64) {
	switch width {
	case 2:
		binary.NativeEndian.PutUint16(destination, uint16(value))
	case 4:
		binary.NativeEndian.PutUint32(destination, uint32(value))
	default:
		binary.NativeEndian.PutUint64(destination, uint64(value))
	}
}
