package hashtable

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/memory"
)

// The host finds the groups with a map in place of the table. Go seeds its maps.

// rowsOnHost returns the number of rows.
func (g *Groups) rowsOnHost() (int, error) {
	if g.rows.Len() == 0 {
		return g.column.Len(), nil
	}
	rows, err := g.rows.Host()
	if err != nil {
		return 0, err
	}
	return int(min(max(rows[0], 0), int64(g.column.Len()))), nil
}

// validRows returns a function that reports whether a row is not null.
func (g *Groups) validRows() (func(row int) bool, error) {
	if g.valid.Len() == 0 {
		return func(int) bool { return true }, nil
	}
	bytes, err := g.valid.Host()
	return func(row int) bool { return bytes[(g.bit+row)/8]>>((g.bit+row)%8)&1 != 0 }, err
}

// findFirstsOnHost marks the first row of each group and, if codes are requested, writes
// them: groups are found in the order of their numbers.
func (g *Groups) findFirstsOnHost(k keys) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	valid, validErr := g.validRows()
	key, keyErr := k.onHost()
	codes, codesErr := g.codes.Host()
	bits, bitsErr := g.firstBits.Host()
	if err := errors.Join(validErr, keyErr, codesErr, bitsErr); err != nil {
		return err
	}
	clear(codes)
	clear(bits)
	groupOf := map[string]uint32{}
	groupOfNull, groups := int64(-1), uint32(0)
	for row := range n {
		group, known := uint32(0), true
		switch {
		case valid(row):
			text, err := key(row)
			if err != nil {
				return err
			}
			if group, known = groupOf[string(text)]; !known {
				group = groups
				groupOf[string(text)] = group
			}
		case !g.nullKey():
			continue
		default:
			if known = groupOfNull >= 0; !known {
				groupOfNull = int64(groups)
			}
			group = uint32(groupOfNull)
		}
		if len(codes) > 0 {
			codes[row] = group
		}
		if !known {
			groups++
			bits[row/8] |= 1 << (row % 8)
		}
	}
	return nil
}

func (g *Groups) countCodesOnHost(ctx context.Context, counts memory.Slice[int64]) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	if err := g.call.Settle(ctx); err != nil {
		return err
	}
	codes, codesErr := g.codes.Host()
	numbers, numbersErr := counts.Host()
	if err := errors.Join(codesErr, numbersErr); err != nil {
		return err
	}
	for _, code := range codes[:n] {
		numbers[code]++
	}
	return nil
}
