package group

import "slices"

// Columns of float64 without nulls and conditions have a kernel with less work for each row
// (tile_columns.cu), if the group of a row is one column of 32 bits.

// orderColumns reports whether all readers of a launch are sums and extremes of plain columns, with at most
// one count of all rows. It then moves accumulators of one column together, those with sums to the front and the
// count to the end: marks of rows are derived from the first sum.
func (t *tiling) orderColumns(g *grouping) bool {
	if !g.dense.isPlain() || slices.ContainsFunc(t.readers, func(r tileReader) bool { return !r.isPlain() }) {
		return false
	}
	sumsFirst := slices.Clone(t.readers)
	slices.SortStableFunc(sumsFirst, func(a, b tileReader) int { return int(b.kind) - int(a.kind) })
	var ordered, counts []tileReader
	for _, r := range sumsFirst {
		if r.kind == countRows {
			counts = append(counts, r)
			continue
		}
		if slices.ContainsFunc(ordered, r.sharesColumn) {
			continue
		}
		begin := len(ordered)
		for _, other := range sumsFirst {
			if other.kind != countRows && r.sharesColumn(other) {
				ordered = append(ordered, other)
			}
		}
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
	return r.kind == countRows || (r.kind == sumFloats || r.kind == greatest && r.value >= 0) && r.in.form == fromF64
}

// isPlain reports whether the group of a row is computed of one column of 32 bits. Without dense keys it is its
// number.
func (d *denseKeys) isPlain() bool {
	if d == nil {
		return true
	}
	count, plain := 0, true
	for i := range d.keys {
		if k := &d.keys[i]; !k.constant {
			count++
			plain = k.width == 4 && k.valid.Len() == 0
		}
	}
	return count == 1 && plain
}
