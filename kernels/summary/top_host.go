package summary

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// entry is a row and the key that it is ordered by.
type entry struct {
	key uint64
	row int
}

func (e entry) compare(other entry) int {
	if e.key != other.key {
		return cmp.Compare(e.key, other.key)
	}
	return e.row - other.row
}

func (t selecting) onHost() error {
	in, err := t.in.host(t.number)
	if err != nil {
		return err
	}
	values, valuesErr := t.values.Host()
	rows, rowsErr := t.rows.Host()
	valid, validErr := t.valid.Host()
	if err := errors.Join(valuesErr, rowsErr, validErr); err != nil {
		return err
	}
	clear(values)
	clear(rows)
	clear(valid)
	for i, e := range t.first(in) {
		width := t.number.bytes
		copy(values[i*width:(i+1)*width], in.values[e.row*width:])
		rows[i] = int64(e.row)
		valid[i/8] |= 1 << (i % 8)
	}
	return nil
}

// first returns the first k entries in order. It keeps some more and sorts these down
// to k when they have become too many.
func (t selecting) first(in hostInput) []entry {
	room := 2*t.k + 1000
	entries := make([]entry, 0, min(room, in.rows))
	worst, full := uint64(0), false
	for row := range in.rows {
		if !in.isValid(row) {
			continue
		}
		// A later row with the key of the k-th comes after it.
		key := t.key(in, row)
		if full && key >= worst {
			continue
		}
		if entries = append(entries, entry{key, row}); len(entries) == room {
			slices.SortFunc(entries, entry.compare)
			entries = entries[:t.k]
			worst, full = entries[t.k-1].key, true
		}
	}
	slices.SortFunc(entries, entry.compare)
	return entries[:min(t.k, len(entries))]
}

// key returns what a row is ordered by, the least first. What it is may differ from
// the kernels', not the order.
func (t selecting) key(in hostInput, row int) uint64 {
	if t.number.class != float {
		key := in.integer(row)
		if t.number.class == signed {
			key ^= 1 << 63
		}
		if !t.smallest {
			key = ^key
		}
		return key
	}
	x := in.float(row)
	if x != x {
		return math.MaxUint64 - 1
	}
	key := math.Float64bits(x)
	key ^= uint64(int64(key)>>63) | 1<<63
	if !t.smallest {
		key = ^key
	}
	return key
}
