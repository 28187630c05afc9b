package column

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// The functions in this file check references to other positions on the host.

// checkOffsets checks that offsets do not decrease and lie between zero and the
// limit, and returns the first and the last.
func checkOffsets(offsets []byte, width, limit int) (first, last int, err error) {
	at := signedAt(offsets, width)
	if at < 0 {
		return 0, 0, fmt.Errorf("the first is %d, expected zero or more: %w", at, ErrInvalid)
	}
	first = int(at)
	decreases := -1
	if width == 4 {
		at, decreases = lastOf32(offsets)
	} else {
		at, decreases = lastOf64(offsets)
	}
	if decreases >= 0 {
		return 0, 0, fmt.Errorf("number %d is less than the one before it: %w", decreases, ErrInvalid)
	}
	if at > int64(limit) {
		return 0, 0, fmt.Errorf("the last is %d, expected at most the %d elements: %w", at, limit, ErrInvalid)
	}
	return first, int(at), nil
}

// checkIndices checks that the indices of valid elements lie in a dictionary of a
// number of values. The bitmap's first bit is number bitOffset. The first index is
// number first of its buffer, for messages.
func checkIndices(indices []byte, l layout.Layout, values int, valid []byte, bitOffset, first int) error {
	if len(indices) == 0 || largestIndex(indices, l.Width) < uint64(values) {
		return nil
	}
	for i := range len(indices) / l.Width {
		index := indexAt(indices[i*l.Width:], l.Width)
		if index >= uint64(values) && (valid == nil || bitIsSet(valid, bitOffset+i)) {
			return fmt.Errorf("buffer 1 (indices): number %d is %d, but the dictionary has %d values: %w",
				first+i, signExtended(index, l), values, ErrInvalid)
		}
	}
	return nil
}

// largestIndex returns the largest index, taken as an unsigned number.
func largestIndex(indices []byte, width int) (largest uint64) {
	switch width {
	case 1:
		return most(indices)
	case 2:
		if values, ok := typed[uint16](indices); ok {
			return most(values)
		}
	case 4:
		if values, ok := typed[uint32](indices); ok {
			return most(values)
		}
	case 8:
		if values, ok := typed[uint64](indices); ok {
			return most(values)
		}
	}
	for ; len(indices) >= width; indices = indices[width:] {
		largest = max(largest, indexAt(indices, width))
	}
	return largest
}

// signExtended returns an index for a message, with the sign of its type.
func signExtended(index uint64, l layout.Layout) any {
	if !l.IsSigned() {
		return index
	}
	unused := 64 - 8*l.Width
	return int64(index<<unused) >> unused
}

// checkViews checks that the views of valid elements lie in data buffers of some
// lengths. bitOffset and first are as in checkIndices.
func checkViews(views []byte, lengths []int, valid []byte, bitOffset, first int) error {
	if words, ok := typed[uint32](views); ok && viewsFit(words, lengths) {
		return nil
	}
	for i := 0; len(views) >= viewBytes; i, views = i+1, views[viewBytes:] {
		length := int32(binary.NativeEndian.Uint32(views))
		if uint32(length) <= inlineViewBytes || valid != nil && !bitIsSet(valid, bitOffset+i) {
			continue
		}
		buffer := int32(binary.NativeEndian.Uint32(views[viewBuffer:]))
		position := int32(binary.NativeEndian.Uint32(views[viewPosition:]))
		if length < 0 || buffer < 0 || int(buffer) >= len(lengths) || position < 0 ||
			int64(position)+int64(length) > int64(lengths[buffer]) {
			return fmt.Errorf("buffer 1 (views): number %d points to %d bytes at %d of data buffer %d: %w",
				first+i, length, position, buffer, ErrInvalid)
		}
	}
	return nil
}

// viewsFit reports whether all views, including those of nulls, are inline or lie in
// the first data buffer, as most do.
func viewsFit(words []uint32, lengths []int) bool {
	limit := int64(0)
	if len(lengths) > 0 {
		limit = int64(lengths[0])
	}
	for ; len(words) >= 4; words = words[4:] {
		length := words[0]
		if length <= inlineViewBytes {
			continue
		}
		if int32(length) < 0 || words[2] != 0 || int32(words[3]) < 0 || int64(words[3])+int64(length) > limit {
			return false
		}
	}
	return true
}

// checkListViews checks that all lists lie in a child of n elements. The first
// one is number first of its buffers, for messages.
func checkListViews(offsets, sizes []byte, width, elements, first int) error {
	if width == 4 && listsFit[int32](offsets, sizes, elements) || width == 8 && listsFit[int64](offsets, sizes, elements) {
		return nil
	}
	for i := range len(offsets) / width {
		offset, size := signedAt(offsets[i*width:], width), signedAt(sizes[i*width:], width)
		if !listFits(offset, size, elements) {
			return fmt.Errorf("list %d is %d elements at %d of a child of %d: %w", first+i, size, offset, elements, ErrInvalid)
		}
	}
	return nil
}

// listsFit reports whether all lists lie in the child, if the buffers are aligned.
func listsFit[T int32 | int64](offsetBytes, sizeBytes []byte, elements int) bool {
	offsets, ok := typed[T](offsetBytes)
	sizes, also := typed[T](sizeBytes)
	if !ok || !also || len(sizes) != len(offsets) {
		return false
	}
	var negative T
	var end uint64
	for i, offset := range offsets {
		negative |= offset | sizes[i]
		end = max(end, uint64(offset)+uint64(sizes[i]))
	}
	return negative >= 0 && end <= uint64(elements)
}

func listFits(offset, size int64, elements int) bool {
	return offset >= 0 && size >= 0 && size <= int64(elements) && offset <= int64(elements)-size
}

// clearNullLists replaces null lists that do not lie in a child of n elements by
// empty ones at its beginning. The format requires that all lists lie in the child.
func clearNullLists(offsets, sizes []byte, width, elements int, valid []byte) {
	if valid == nil {
		return
	}
	for i := range len(offsets) / width {
		offset, size := offsets[i*width:], sizes[i*width:]
		if !bitIsSet(valid, i) && !listFits(signedAt(offset, width), signedAt(size, width), elements) {
			putSigned(offset, width, 0)
			putSigned(size, width, 0)
		}
	}
}

// checkUnion checks type ids and any offsets against the lengths of the children. The
// first type id is number first of its buffer, for messages.
func checkUnion(l layout.Layout, ids, offsets []byte, lengths []int, first int) error {
	children := l.Storage.(arrow.UnionType).ChildIDs()
	for i, id := range ids {
		if int8(id) < 0 || int(id) >= len(children) || children[id] == arrow.InvalidUnionChildID {
			return fmt.Errorf("buffer 0 (type ids): number %d is %d, which is not a type id of %v: %w", first+i, int8(id), l.Storage, ErrInvalid)
		}
		if offsets == nil {
			continue
		}
		offset, length := signedAt(offsets[4*i:], 4), lengths[children[id]]
		if offset < 0 || offset >= int64(length) {
			return fmt.Errorf("buffer 1 (offsets): number %d is %d, but child %d has %d elements: %w",
				first+i, offset, children[id], length, ErrInvalid)
		}
	}
	return nil
}

// checkRunEnds checks that run ends increase and reach the end of the elements.
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
		return fmt.Errorf("the last is %d, expected at least %d: %w", at, elements, ErrInvalid)
	}
	return nil
}
