package column

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// The functions here check, on the host, what refers to positions elsewhere.

// checkOffsets checks that offsets do not decrease and lie between zero and the
// limit, and returns the first and the last.
func checkOffsets(offsets []byte, width, limit int) (first, last int, err error) {
	at := signedAt(offsets, width)
	if at < 0 {
		return 0, 0, fmt.Errorf("the first is %d: %w", at, ErrInvalid)
	}
	first = int(at)
	decreases := -1
	if width == 4 {
		at, decreases = lastOf32(offsets)
	} else {
		at, decreases = lastOf64(offsets)
	}
	if decreases >= 0 {
		return 0, 0, fmt.Errorf("number %d is less than the one ahead of it: %w", decreases, ErrInvalid)
	}
	if at > int64(limit) {
		return 0, 0, fmt.Errorf("the last is %d, but there are %d elements to point to: %w", at, limit, ErrInvalid)
	}
	return first, int(at), nil
}

// lastOf32 returns the last of some offsets, or the number of the first one that
// is less than the one ahead of it.
func lastOf32(offsets []byte) (last int64, decreases int) {
	at := int32(math.MinInt32)
	for rest := offsets; len(rest) >= 4; rest = rest[4:] {
		next := int32(binary.NativeEndian.Uint32(rest))
		if next < at {
			return 0, (len(offsets) - len(rest)) / 4
		}
		at = next
	}
	return int64(at), -1
}

// lastOf64 is lastOf32 for offsets of 64 bits.
func lastOf64(offsets []byte) (last int64, decreases int) {
	at := int64(math.MinInt64)
	for rest := offsets; len(rest) >= 8; rest = rest[8:] {
		next := int64(binary.NativeEndian.Uint64(rest))
		if next < at {
			return 0, (len(offsets) - len(rest)) / 8
		}
		at = next
	}
	return at, -1
}

// checkIndices checks that the indices of valid elements lie in a dictionary of
// so many values. The bitmap's first bit is number bitOffset.
func checkIndices(indices []byte, l layout, values int, valid []byte, bitOffset int) error {
	if len(indices) == 0 || largestIndex(indices, l.width) < uint64(values) {
		return nil
	}
	for i := range len(indices) / l.width {
		index := indexAt(indices[i*l.width:], l.width)
		if index >= uint64(values) && (valid == nil || bitIsSet(valid, bitOffset+i)) {
			return fmt.Errorf("buffer 1 (indices): number %d is %d, but the dictionary has %d values: %w",
				i, signExtended(index, l), values, ErrInvalid)
		}
	}
	return nil
}

// largestIndex returns the largest index, taken as a number without a sign.
func largestIndex(indices []byte, width int) (largest uint64) {
	switch width {
	case 4:
		var most uint32
		for ; len(indices) >= 4; indices = indices[4:] {
			most = max(most, binary.NativeEndian.Uint32(indices))
		}
		return uint64(most)
	case 1:
		var most uint8
		for _, index := range indices {
			most = max(most, index)
		}
		return uint64(most)
	}
	for ; len(indices) >= width; indices = indices[width:] {
		largest = max(largest, indexAt(indices, width))
	}
	return largest
}

// signExtended gives an index for a message as what its type takes it for.
func signExtended(index uint64, l layout) any {
	if !arrow.IsSignedInteger(l.storage.(*arrow.DictionaryType).IndexType.ID()) {
		return index
	}
	unused := 64 - 8*l.width
	return int64(index<<unused) >> unused
}

// checkViews checks that the views of valid elements lie in the data buffers.
func checkViews(views []byte, data []*arrowmemory.Buffer, valid []byte) error {
	for i := 0; len(views) >= viewBytes; i, views = i+1, views[viewBytes:] {
		length := int32(binary.NativeEndian.Uint32(views))
		if uint32(length) <= inlineViewBytes || valid != nil && !bitIsSet(valid, i) {
			continue
		}
		buffer := int32(binary.NativeEndian.Uint32(views[viewBuffer:]))
		position := int32(binary.NativeEndian.Uint32(views[viewPosition:]))
		if length < 0 || buffer < 0 || int(buffer) >= len(data) || position < 0 ||
			int64(position)+int64(length) > int64(data[buffer].Len()) {
			return fmt.Errorf("buffer 1 (views): number %d points to %d bytes at %d of data buffer %d: %w",
				i, length, position, buffer, ErrInvalid)
		}
	}
	return nil
}

// checkListViews checks that the lists of valid elements lie in a child of so many
// elements.
func checkListViews(offsets, sizes []byte, width, elements int, valid []byte) error {
	for i := range len(offsets) / width {
		offset, size := signedAt(offsets[i*width:], width), signedAt(sizes[i*width:], width)
		if offset >= 0 && size >= 0 && size <= int64(elements) && offset <= int64(elements)-size {
			continue
		}
		if valid == nil || bitIsSet(valid, i) {
			return fmt.Errorf("list %d is %d elements at %d of a child of %d: %w", i, size, offset, elements, ErrInvalid)
		}
	}
	return nil
}

// checkUnion checks type ids and, where there are any, offsets against the lengths
// of the children.
func checkUnion(l layout, ids, offsets []byte, lengths []int) error {
	children := l.storage.(arrow.UnionType).ChildIDs()
	for i, id := range ids {
		if int8(id) < 0 || int(id) >= len(children) || children[id] == arrow.InvalidUnionChildID {
			return fmt.Errorf("buffer 0 (type ids): number %d is %d, which %v has not: %w", i, int8(id), l.storage, ErrInvalid)
		}
		if offsets == nil {
			continue
		}
		offset, length := signedAt(offsets[4*i:], 4), lengths[children[id]]
		if offset < 0 || offset >= int64(length) {
			return fmt.Errorf("buffer 1 (offsets): number %d is %d, but child %d has %d elements: %w",
				i, offset, children[id], length, ErrInvalid)
		}
	}
	return nil
}

// checkRunEnds checks that run ends grow and reach the end of the elements.
func checkRunEnds(ends []byte, width, elements int) error {
	at := int64(0)
	for i := range len(ends) / width {
		next := signedAt(ends[i*width:], width)
		if next <= at {
			return fmt.Errorf("number %d is %d, after %d: %w", i, next, at, ErrInvalid)
		}
		at = next
	}
	if at < int64(elements) {
		return fmt.Errorf("the last is %d, but there are elements up to %d: %w", at, elements, ErrInvalid)
	}
	return nil
}
