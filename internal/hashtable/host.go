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

func (g *Groups) findFirstsOnHost(k keys) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	valid, validErr := g.validRows()
	key, keyErr := k.onHost()
	codes, codesErr := g.codes.Host()
	isFirst, isFirstErr := g.isFirst.Host()
	bits, bitsErr := g.firstBits.Host()
	if err := errors.Join(validErr, keyErr, codesErr, isFirstErr, bitsErr); err != nil {
		return err
	}
	withCodes := len(codes) > 0
	clear(isFirst)
	clear(bits)
	firstOf := map[string]uint32{}
	firstNull := -1
	for row := range n {
		first := uint32(row)
		switch {
		case valid(row):
			text, err := key(row)
			if err != nil {
				return err
			}
			if known, ok := firstOf[string(text)]; ok {
				first = known
			} else {
				firstOf[string(text)] = first
			}
		case firstNull >= 0:
			first = uint32(firstNull)
		default:
			firstNull = row
		}
		found := first == uint32(row) && (g.nullKey || valid(row))
		if withCodes {
			codes[row] = first
			if found {
				isFirst[row] = 1
			}
		}
		if found {
			bits[row/8] |= 1 << (row % 8)
		}
	}
	return nil
}

func (g *Groups) encodeOnHost() error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	valid, validErr := g.validRows()
	codes, codesErr := g.codes.Host()
	region, regionErr := g.ranks.ValuesRegion()
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
		if row < n && (g.nullKey || valid(row)) {
			codes[row] = uint32(rank[codes[row]] - 1)
		} else {
			codes[row] = 0
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
