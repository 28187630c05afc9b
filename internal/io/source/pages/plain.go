package pages

import (
	"encoding/binary"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// mostPlain is the length of the plain values of a page in another encoding at most.
const mostPlain = 1 << 28

// plainValues rewrites the values of a page as plain ones, in the memory of plain.
type plainValues func(data []byte, f Flat, values int64, plain *plainPage) error

// plainPage has the plain values of a page in another encoding.
type plainPage struct {
	values []byte
	// last is the last text of the page before: arrow-go and parquet-mr before 1.8 share its
	// beginning with the first text of a page.
	last []byte
}

// plainOf returns the function that rewrites values of an encoding, or nil.
func plainOf(encoding int, f Flat) plainValues {
	bytes := f.Physical == parquetformat.ByteArray
	switch {
	case encoding == DeltaBinaryPacked && (f.Physical == parquetformat.Int32 || f.Physical == parquetformat.Int64):
		return deltaIntegers
	case encoding == DeltaLengthByteArray && bytes:
		return deltaLengths
	case encoding == DeltaByteArray && (bytes || f.Physical == parquetformat.FixedLenByteArray):
		return deltaTexts
	case encoding == ByteStreamSplit && widthOf(f) > 0:
		return joined
	}
	return nil
}

// widthOf returns the bytes of a plain value, or 0 if that differs.
func widthOf(f Flat) int {
	switch f.Physical {
	case parquetformat.Int32, parquetformat.Float:
		return 4
	case parquetformat.Int64, parquetformat.Double:
		return 8
	case parquetformat.FixedLenByteArray:
		return f.Width
	}
	return 0
}

// joined puts the bytes of each value together, of which the first bytes of all values come first,
// then the second ones, and so on.
func joined(data []byte, f Flat, _ int64, plain *plainPage) error {
	width := widthOf(f)
	if len(data)%width != 0 {
		return fmt.Errorf("%d bytes of values of %d bytes: %w", len(data), width, ErrDamaged)
	}
	n := len(data) / width
	to := resized(plain.values, len(data))
	for part := range width {
		stream := data[part*n : (part+1)*n]
		for i, b := range stream {
			to[i*width+part] = b
		}
	}
	plain.values = to
	return nil
}

// resized returns memory of a length, that of another slice if it has room.
func resized(memory []byte, length int) []byte {
	if cap(memory) < length {
		return make([]byte, length)
	}
	return memory[:length]
}

// deltaIntegers rewrites integers that are differences.
func deltaIntegers(data []byte, f Flat, values int64, plain *plainPage) error {
	width := widthOf(f)
	numbers, _, err := deltas(data, min(values, int64(mostPlain/width)))
	if err != nil {
		return err
	}
	to := resized(plain.values, len(numbers)*width)
	for i, number := range numbers {
		if width == 4 {
			binary.LittleEndian.PutUint32(to[i*4:], uint32(number))
		} else {
			binary.LittleEndian.PutUint64(to[i*8:], uint64(number))
		}
	}
	plain.values = to
	return nil
}

// deltaLengths rewrites texts that follow their lengths.
func deltaLengths(data []byte, _ Flat, values int64, plain *plainPage) error {
	lengths, data, err := deltas(data, min(values, mostPlain/4))
	if err != nil {
		return err
	}
	to := plain.values[:0]
	for i, length := range lengths {
		if length < 0 || length > int64(len(data)) {
			return fmt.Errorf("text %d of a page has %d bytes of %d: %w", i, length, len(data), ErrDamaged)
		}
		to = binary.LittleEndian.AppendUint32(to, uint32(length))
		to, data = append(to, data[:length]...), data[length:]
	}
	plain.values = to
	return nil
}

// deltaTexts rewrites texts of which each has its beginning from the one before.
func deltaTexts(data []byte, f Flat, values int64, plain *plainPage) error {
	most := min(values, mostPlain/4)
	shared, data, err := deltas(data, most)
	if err != nil {
		return err
	}
	lengths, data, err := deltas(data, most)
	if err != nil {
		return err
	}
	if len(shared) != len(lengths) {
		return fmt.Errorf("%d beginnings of %d texts: %w", len(shared), len(lengths), ErrDamaged)
	}
	to, before := plain.values[:0], plain.last
	for i, length := range lengths {
		if shared[i] < 0 || shared[i] > int64(len(before)) || length < 0 || length > int64(len(data)) {
			return fmt.Errorf("text %d of a page shares %d bytes with the one before and has %d more: %w", i, shared[i], length, ErrDamaged)
		}
		size := int(shared[i] + length)
		if size+4 > mostPlain-len(to) {
			return fmt.Errorf("the texts of a page have more than %d bytes: %w", mostPlain, ErrDamaged)
		}
		if f.Physical == parquetformat.ByteArray {
			to = binary.LittleEndian.AppendUint32(to, uint32(size))
		} else if size != f.Width {
			return fmt.Errorf("value %d of a page has %d bytes, expected %d: %w", i, size, f.Width, ErrDamaged)
		}
		begin := len(to)
		to, data = append(append(to, before[:shared[i]]...), data[:length]...), data[length:]
		before = to[begin:]
	}
	plain.values, plain.last = to, append(plain.last[:0:0], before...)
	return nil
}

// deltas decodes integers that are differences, at most a number of them, and returns what follows
// them.
func deltas(data []byte, most int64) (numbers []int64, rest []byte, err error) {
	if len(data) == 0 {
		return nil, nil, nil // all values are null
	}
	if err := checkDelta(data, most); err != nil {
		return nil, nil, err
	}
	var head [3]uint64 // checkDelta has read them
	for i := range head {
		n := 0
		head[i], n = binary.Uvarint(data)
		data = data[n:]
	}
	block, parts, total := int(head[0]), int(head[1]), int(head[2])
	number, n := binary.Varint(data)
	if n <= 0 {
		return nil, nil, thrift.ErrCut
	}
	data = data[n:]
	if total == 0 {
		return nil, data, nil
	}
	numbers = append(numbers, number)
	for len(numbers) < total {
		if numbers, data, err = deltaBlock(numbers, data, block, parts, total); err != nil {
			return nil, nil, err
		}
	}
	return numbers, data, nil
}

// deltaBlock decodes a block: its least difference, the widths of its parts, and the parts. Parts
// without a number have no bytes.
func deltaBlock(numbers []int64, data []byte, block, parts, total int) ([]int64, []byte, error) {
	least, n := binary.Varint(data)
	if n <= 0 || len(data)-n < parts {
		return nil, nil, thrift.ErrCut
	}
	widths, data := data[n:n+parts], data[n+parts:]
	for _, width := range widths {
		if len(numbers) == total {
			break
		}
		if width > 64 {
			return nil, nil, fmt.Errorf("differences of %d bits: %w", width, ErrDamaged)
		}
		length := (block/parts*int(width) + 7) / 8
		count := min(block/parts, total-len(numbers))
		if length > len(data) && (count*int(width)+7)/8 > len(data) { // some writers cut the last part
			return nil, nil, thrift.ErrCut
		}
		last := numbers[len(numbers)-1]
		for i := range count {
			last += least + int64(wideBits(data, i*int(width), int(width)))
			numbers = append(numbers, last)
		}
		data = data[min(length, len(data)):]
	}
	return numbers, data, nil
}

// wideBits returns a number of at most 64 bits from a bit on.
func wideBits(data []byte, at, width int) (v uint64) {
	begin, shift := at>>3, at&7
	if begin+9 <= len(data) {
		v = binary.LittleEndian.Uint64(data[begin:]) >> shift
		if shift > 0 {
			v |= uint64(data[begin+8]) << (64 - shift)
		}
	} else {
		for i := 0; begin+i < len(data) && i*8 < width+shift; i++ {
			if place := i*8 - shift; place >= 0 {
				v |= uint64(data[begin+i]) << place
			} else {
				v |= uint64(data[begin+i]) >> -place
			}
		}
	}
	if width == 64 {
		return v
	}
	return v & (1<<width - 1)
}
