package order

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
)

// entry is a row and its sort key.
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

func (s *topSelection) onHost() error {
	in, err := numbers.Host(s.in, s.number)
	if err != nil {
		return err
	}
	values, valuesErr := s.values.Host()
	rows, rowsErr := s.rows.Host()
	valid, validErr := s.valid.Host()
	if err := errors.Join(valuesErr, rowsErr, validErr); err != nil {
		return err
	}
	clear(values)
	clear(rows)
	clear(valid)
	for i, e := range s.first(in) {
		width := in.Type.Bytes
		copy(values[i*width:(i+1)*width], in.Values[e.row*width:])
		rows[i] = int64(e.row)
		valid[i/8] |= 1 << (i % 8)
	}
	return nil
}

// first returns the first k entries in order. It collects candidates up to a limit
// above k, then sorts them and keeps the first k.
func (s *topSelection) first(in numbers.HostView) []entry {
	limit := 2*s.k + 1000
	entries := make([]entry, 0, min(limit, in.Rows))
	worst, full := uint64(0), false
	for row := range in.Rows {
		if !in.IsValid(row) {
			continue
		}
		// A later row with the key of the k-th entry comes after it.
		key := s.key(in, row)
		if full && key >= worst {
			continue
		}
		if entries = append(entries, entry{key, row}); len(entries) == limit {
			slices.SortFunc(entries, entry.compare)
			entries = entries[:s.k]
			worst, full = entries[s.k-1].key, true
		}
	}
	slices.SortFunc(entries, entry.compare)
	return entries[:min(s.k, len(entries))]
}

// key returns the sort key of a row; the first row has the least key. The keys may
// differ from those of the kernels, their order does not.
func (s *topSelection) key(in numbers.HostView, row int) uint64 {
	if in.Type.Class != numbers.Float {
		key := in.Integer(row)
		if in.Type.Class == numbers.Signed {
			key ^= 1 << 63
		}
		if !s.smallest {
			key = ^key
		}
		return key
	}
	x := in.Float(row)
	if x != x {
		return math.MaxUint64 - 1
	}
	key := math.Float64bits(x + 0) // −0 is equal to 0
	key ^= uint64(int64(key)>>63) | 1<<63
	if !s.smallest {
		key = ^key
	}
	return key
}
