package dictionary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// The host's side: the same steps with a map for a table. Go seeds its maps.

// count returns how many rows there are.
func (d *distinct) count() (int, error) {
	if d.rows.Len() == 0 {
		return d.column.Len(), nil
	}
	rows, err := d.rows.Host()
	if err != nil {
		return 0, err
	}
	return int(min(max(rows[0], 0), int64(d.column.Len()))), nil
}

// validRows returns a function that tells whether a row is not null.
func (d *distinct) validRows() (func(row int) bool, error) {
	if d.valid.Len() == 0 {
		return func(int) bool { return true }, nil
	}
	bytes, err := d.valid.Host()
	return func(row int) bool { return bytes[(d.bit+row)/8]>>((d.bit+row)%8)&1 != 0 }, err
}

func (d *distinct) markOnHost(k keys) error {
	n, err := d.count()
	if err != nil {
		return err
	}
	valid, validErr := d.validRows()
	key, keyErr := k.onHost()
	firsts, firstsErr := d.codes.Host()
	marks, marksErr := d.isFirst.Host()
	bits, bitsErr := d.bits.Host()
	if err := errors.Join(validErr, keyErr, firstsErr, marksErr, bitsErr); err != nil {
		return err
	}
	codes := len(firsts) > 0
	clear(marks)
	clear(bits)
	seen := map[string]uint32{}
	null := -1
	for row := range n {
		first := uint32(row)
		switch {
		case valid(row):
			text, err := key(row)
			if err != nil {
				return err
			}
			known, ok := seen[string(text)]
			if ok {
				first = known
			} else {
				seen[string(text)] = first
			}
		case null >= 0:
			first = uint32(null)
		default:
			null = row
		}
		isFirst := first == uint32(row) && (d.withNull || valid(row))
		if codes {
			firsts[row] = first
			if isFirst {
				marks[row] = 1
			}
		}
		if isFirst {
			bits[row/8] |= 1 << (row % 8)
		}
	}
	return nil
}

func (d *distinct) encodeOnHost() error {
	n, err := d.count()
	if err != nil {
		return err
	}
	valid, validErr := d.validRows()
	codes, codesErr := d.codes.Host()
	region, regionErr := d.ranks.ValuesRegion()
	if err := errors.Join(validErr, codesErr, regionErr); err != nil {
		return err
	}
	ranks, err := memory.Reinterpret[int32](region)
	if err != nil {
		return err
	}
	rank, err := ranks.Host()
	if err != nil {
		return err
	}
	for row := range codes {
		if row < n && (d.withNull || valid(row)) {
			codes[row] = uint32(rank[codes[row]] - 1)
		} else {
			codes[row] = 0
		}
	}
	return nil
}

// onHost returns a function that gives a row's key: bytes that are the same if the
// values are. They are good until the next call.
func (k keys) onHost() (func(row int) ([]byte, error), error) {
	first, err := k.first.Host()
	if err != nil {
		return nil, err
	}
	scratch := make([]byte, 8)
	switch k.kind {
	case keyBits:
		return func(row int) ([]byte, error) {
			scratch[0] = first[(k.bit+row)/8] >> ((k.bit + row) % 8) & 1
			return scratch[:1], nil
		}, nil
	case keyRuns:
		return k.runsOnHost(first)
	case keyFloat:
		return func(row int) ([]byte, error) {
			binary.NativeEndian.PutUint64(scratch, k.floatKey(first[k.width*row:]))
			return scratch, nil
		}, nil
	}
	return func(row int) ([]byte, error) { return first[k.width*row : k.width*(row+1)], nil }, nil
}

// floatKey returns the bits of a float, one and the same for all NaNs and for both zeros.
func (k keys) floatKey(bytes []byte) uint64 {
	var bits, infinity uint64
	switch k.width {
	case 2:
		bits, infinity = uint64(binary.NativeEndian.Uint16(bytes)), 0x7c00
	case 4:
		bits, infinity = uint64(binary.NativeEndian.Uint32(bytes)), 0x7f800000
	default:
		bits, infinity = binary.NativeEndian.Uint64(bytes), 0x7ff0000000000000
	}
	magnitude := bits &^ (1 << (8*k.width - 1))
	switch {
	case magnitude > infinity:
		return math.MaxUint64
	case magnitude == 0:
		return 0
	}
	return bits
}

func (k keys) runsOnHost(offsets []byte) (func(row int) ([]byte, error), error) {
	bytes, err := k.bytes.Host()
	at := func(i int) int64 {
		if k.width == 4 {
			return int64(int32(binary.NativeEndian.Uint32(offsets[4*i:])))
		}
		return int64(binary.NativeEndian.Uint64(offsets[8*i:]))
	}
	return func(row int) ([]byte, error) {
		begin, end := at(row), at(row+1)
		if begin < 0 || end < begin || end > int64(len(bytes)) {
			return nil, fmt.Errorf("row %d: its offsets are %d and %d, of %d bytes: %w", row, begin, end, len(bytes), column.ErrInvalid)
		}
		return bytes[begin:end], nil
	}, err
}
