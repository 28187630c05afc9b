package sketch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
)

// errFrequent reports bytes that are no sketch.
var errFrequent = errors.New("the bytes are no sketch of frequent items of DataSketches")

// The format of a sketch of frequent items: bytes of the preamble, and the beginning of the counters.
const (
	atLgItems, atLgTable, atItemFlags, atItems, atLength, atOffset, atCounters = 3, 4, 5, 8, 16, 24, 32
	frequentFamily                                                             = 10
	frequentEmpty                                                              = 5 // the flags of empty sketches in C++ and in Java
)

// bytes writes a sketch, the most frequent items first.
func (f *frequent[T]) bytes(c codec[T]) []byte {
	b := make([]byte, 8, atCounters+16*len(f.counts))
	b[atPreambleInts], b[atVersion], b[atFamily], b[atLgItems], b[atLgTable] = 1, version, frequentFamily, byte(f.lgItems), leastLgItems
	if f.n == 0 {
		b[atItemFlags] = frequentEmpty
		return b
	}
	for lg := leastLgItems; 3<<lg>>2 < len(f.counts); lg++ {
		b[atLgTable] = byte(lg + 1)
	}
	b[atPreambleInts] = 4
	b = binary.LittleEndian.AppendUint64(b, uint64(len(f.counts)))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.n))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.offset))
	list := f.items()
	for _, item := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(item.lower))
	}
	for _, item := range list {
		b = c.write(b, item.value)
	}
	return b
}

// parseFrequent reads a sketch.
func parseFrequent[T cmp.Ordered](b []byte, c codec[T]) (*frequent[T], error) {
	if len(b) < 8 || b[atVersion] != version || b[atFamily] != frequentFamily {
		return nil, errFrequent
	}
	lg := int(b[atLgItems])
	if lg < leastLgItems || lg > mostLgItems {
		return nil, fmt.Errorf("%w: a table of 2^%d places, expected 2^%d to 2^%d", errFrequent, lg, leastLgItems, mostLgItems)
	}
	f := newFrequent[T](lg)
	if b[atItemFlags]&frequentEmpty != 0 {
		return f, nil
	}
	if len(b) < atCounters {
		return nil, errFrequent
	}
	n := uint64(binary.LittleEndian.Uint32(b[atItems:]))
	f.n, f.offset = int64(binary.LittleEndian.Uint64(b[atLength:])), int64(binary.LittleEndian.Uint64(b[atOffset:]))
	if b = b[atCounters:]; n > uint64(f.mostCounters()) || n > uint64(len(b)/8) || f.n <= 0 || f.offset < 0 || f.offset > f.n {
		return nil, fmt.Errorf("%w: %d counters of %d items, which miss %d at most", errFrequent, n, f.n, f.offset)
	}
	return f, f.readItems(b[:8*n], b[8*n:], c)
}

// readItems reads the counters and their items. The counters have at most the number of all items.
func (f *frequent[T]) readItems(counters, b []byte, c codec[T]) error {
	for left := f.n - f.offset; len(counters) > 0; counters = counters[8:] { // each subtraction of a median leaves a counter that had it
		count := int64(binary.LittleEndian.Uint64(counters))
		item, rest, ok := c.read(b)
		if !ok {
			return fmt.Errorf("%w: the items are not complete", errFrequent)
		}
		if count <= 0 || count > left || f.counts[item] != 0 {
			return fmt.Errorf("%w: a counter is %d, expected 1 to %d and one counter of each item", errFrequent, count, left)
		}
		f.counts[item], b = count, rest
		left -= count
	}
	if len(b) > 0 {
		return fmt.Errorf("%w: %d bytes after the items", errFrequent, len(b))
	}
	return nil
}
