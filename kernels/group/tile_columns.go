package group

import "slices"

// Columns of float64 without nulls and conditions have a kernel with less work for each row
// (tile_columns.cu), if the group of a row is one column of 32 bits.

// orderColumns reports whether all readers of a launch are sums and extremes of plain columns, with at most
// one count of all rows. It then moves accumulators of one column together and the count to the end.
func (t *tiling) orderColumns(g *grouping) bool {
	if !g.hasPlainNumbers() || slices.ContainsFunc(t.readers, func(r tileReader) bool { return !r.isPlain() }) {
		return false
	}
	var ordered, counts []tileReader
	for i := range t.readers {
		r := t.readers[i]
		if r.kind == countRows {
			counts = append(counts, r)
			continue
		}
		if slices.ContainsFunc(ordered, r.sharesColumn) {
			continue
		}
		begin := len(ordered)
		for _, other := range t.readers {
			if other.kind != countRows && r.sharesColumn(other) {
				ordered = append(ordered, other)
			}
		}
		slices.SortStableFunc(ordered[begin:], func(a, b tileReader) int { return int(b.kind) - int(a.kind) }) // sums first
		for j := range ordered[begin:] {
			ordered[begin+j].again = j > 0
		}
	}
	if len(ordered) == 0 || len(counts) > 1 {
		return false
	}
	t.readers = append(ordered, counts...)
	return true
}

// sharesColumn reports whether two readers read the same values.
func (r tileReader) sharesColumn(other tileReader) bool { return r.in.values == other.in.values }

// isPlain reports whether a reader counts all rows, or reads float64 without nulls and conditions.
func (r *tileReader) isPlain() bool {
	if r.where >= 0 || r.in.valid.Len() > 0 || r.other.valid.Len() > 0 {
		return false
	}
	return r.kind == countRows || (r.kind == sumFloats || r.kind == greatest && r.value >= 0) && r.in.is == fromFloat64
}

// hasPlainNumbers reports whether the group of a row is computed of one column of 32 bits.
func (g *grouping) hasPlainNumbers() bool {
	if g.dense == nil {
		return true
	}
	count, plain := 0, true
	for i := range g.dense.keys {
		if k := &g.dense.keys[i]; !k.constant {
			count++
			plain = k.width == 4 && k.valid.Len() == 0
		}
	}
	return count == 1 && plain
}
