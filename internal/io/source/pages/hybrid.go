package pages

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// hybrid decodes runs of equal numbers and of numbers of a few bits: levels and indices.
type hybrid struct {
	// data has the runs that were not begun.
	data  []byte
	width int // bits
	// left is the number of values of the current run that were not decoded.
	left int
	// packed begins with the numbers of the run, of which those from the bit at on are left. It
	// is nil if all are equal to value.
	packed []byte
	at     int
	value  uint32
}

// mostRun is the length of a run of packed numbers at most, in groups of eight: it keeps products
// with widths within an int.
const mostRun = 1 << 25

// begin reads the head of the next run. Some writers cut the last run after its last number.
func (h *hybrid) begin() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 || head>>1 == 0 {
		return thrift.ErrCut
	}
	h.data, h.packed, h.value = h.data[n:], nil, 0
	count := int(min(head>>1, 1<<31-1))
	if head&1 == 1 && count > mostRun {
		return fmt.Errorf("a run of %d times eight numbers: %w", count, ErrDamaged)
	}
	if head&1 == 1 && h.width > 0 {
		length := min(count*h.width, len(h.data))
		// The bytes after the run stay: unpack reads whole words.
		h.packed, h.at, h.data = h.data, 0, h.data[length:]
		if h.left = min(count*8, length*8/h.width); h.left == 0 {
			return thrift.ErrCut
		}
		return nil
	}
	if head&1 == 1 {
		h.left = count * 8
		return nil
	}
	length := (h.width + 7) / 8
	if length > len(h.data) {
		return thrift.ErrCut
	}
	for i := range length {
		h.value |= uint32(h.data[i]) << (8 * i)
	}
	h.data, h.left = h.data[length:], count
	return nil
}

// part begins a run if necessary, and takes up to n of its numbers. They are equal to h.value,
// or those in data from the bit at on.
func (h *hybrid) part(n int) (data []byte, at, taken int, err error) {
	if h.left == 0 {
		if err := h.begin(); err != nil {
			return nil, 0, 0, err
		}
	}
	data, at, taken = h.packed, h.at, min(n, h.left)
	h.left -= taken
	h.at += taken * h.width
	return data, at, taken, nil
}

// bits writes n numbers of one bit into a bitmap, and returns how many are 1.
func (h *hybrid) bits(to []byte, at, n int) (ones int, err error) {
	for end := at + n; at < end; {
		data, from, taken, err := h.part(end - at)
		if err != nil {
			return 0, err
		}
		if data == nil {
			if h.value > 1 {
				return 0, fmt.Errorf("a definition level of %d: %w", h.value, ErrDamaged)
			}
			bitutil.SetBitsTo(to, int64(at), int64(taken), h.value == 1)
			ones += taken * int(h.value)
		} else {
			bitutil.CopyBitmap(data, from, taken, to, at)
			ones += bitutil.CountSetBits(to, at, taken)
		}
		at += taken
	}
	return ones, nil
}

// skip leaves out n numbers.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		_, _, taken, err := h.part(n)
		if err != nil {
			return err
		}
		n -= taken
	}
	return nil
}

// count leaves out n numbers of one bit, and returns how many are 1.
func (h *hybrid) count(n int) (ones int, err error) {
	for n > 0 {
		data, from, taken, err := h.part(n)
		switch {
		case err != nil:
			return 0, err
		case data != nil:
			ones += bitutil.CountSetBits(data, from, taken)
		case h.value > 1:
			return 0, fmt.Errorf("a definition level of %d: %w", h.value, ErrDamaged)
		default:
			ones += taken * int(h.value)
		}
		n -= taken
	}
	return ones, nil
}

// unpack decodes numbers of a few bits from a bit on.
func unpack(to []uint32, data []byte, at, width int) {
	mask := uint64(1)<<width - 1
	i := 0
	if at&7 == 0 && width <= 16 {
		// Eight numbers begin at a byte, four or eight of them are in one word.
		w := uint(width)
		for ; i+8 <= len(to) && at>>3+16 <= len(data); i, at = i+8, at+8*width {
			eight, begin := (*[8]uint32)(to[i:]), at>>3
			low := binary.LittleEndian.Uint64(data[begin:])
			high := low >> (4 * w & 63)
			if width > 8 {
				high = binary.LittleEndian.Uint64(data[begin+width>>1:]) >> (4 * w & 7)
			}
			eight[0], eight[1], eight[2], eight[3] = uint32(low&mask), uint32(low>>(w&63)&mask), uint32(low>>(2*w&63)&mask), uint32(low>>(3*w&63)&mask)
			eight[4], eight[5], eight[6], eight[7] = uint32(high&mask), uint32(high>>(w&63)&mask), uint32(high>>(2*w&63)&mask), uint32(high>>(3*w&63)&mask)
		}
	}
	for ; i < len(to) && at>>3+8 <= len(data); i, at = i+1, at+width {
		to[i] = uint32(binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7) & mask)
	}
	for ; i < len(to); i, at = i+1, at+width {
		to[i] = bitsAt(data, at, width)
	}
}
