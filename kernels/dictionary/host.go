package dictionary

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/memory"
)

// The host's side: the same steps with a map for a table.

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
	clear(marks)
	clear(bits)
	seen := map[string]uint32{}
	null := -1
	for row := range n {
		first := uint32(row)
		switch {
		case valid(row):
			text := key(row)
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
		firsts[row] = first
		if first == uint32(row) && (d.withNull || valid(row)) {
			marks[row] = 1
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

// onHost returns a function that gives a row's key: bytes that are the same where
// the values are. They are good until the next call.
func (k keys) onHost() (func(row int) []byte, error) {
	first, err := k.first.Host()
	if err != nil {
		return nil, err
	}
	switch {
	case k.width == 0:
		truth := make([]byte, 1)
		return func(row int) []byte {
			truth[0] = first[(k.bit+row)/8] >> ((k.bit + row) % 8) & 1
			return truth
		}, nil
	case k.offsets:
		return k.runsOnHost(first)
	case k.float && k.width == 4:
		scratch := make([]byte, 4)
		return func(row int) []byte {
			value := math.Float32frombits(binary.NativeEndian.Uint32(first[4*row:]))
			if value != value {
				value = float32(math.NaN())
			}
			binary.NativeEndian.PutUint32(scratch, math.Float32bits(value+0)) // −0 + 0 is 0
			return scratch
		}, nil
	case k.float:
		scratch := make([]byte, 8)
		return func(row int) []byte {
			value := math.Float64frombits(binary.NativeEndian.Uint64(first[8*row:]))
			if value != value {
				value = math.NaN()
			}
			binary.NativeEndian.PutUint64(scratch, math.Float64bits(value+0))
			return scratch
		}, nil
	}
	return func(row int) []byte { return first[k.width*row : k.width*(row+1)] }, nil
}

func (k keys) runsOnHost(offsets []byte) (func(row int) []byte, error) {
	bytes, err := k.bytes.Host()
	if k.width == 4 {
		return func(row int) []byte {
			return bytes[binary.NativeEndian.Uint32(offsets[4*row:]):binary.NativeEndian.Uint32(offsets[4*row+4:])]
		}, err
	}
	return func(row int) []byte {
		return bytes[binary.NativeEndian.Uint64(offsets[8*row:]):binary.NativeEndian.Uint64(offsets[8*row+8:])]
	}, err
}
