package rowkey

// Neighbours compares rows with the rows before them. It encodes a block of rows at a time: [Host.Compare] encodes two
// rows for each pair, word by word. It may not be used by several goroutines.
type Neighbours struct {
	host *Host
	rows Rows
	n    int
	// begin and end are the rows of the block.
	begin, end int
	differs    [blockRows]bool
	words      [blockRows + 1]uint64
}

// Neighbours returns the comparisons of the first n of some rows.
func (h *Host) Neighbours(rows Rows, n int) *Neighbours {
	return &Neighbours{host: h, rows: rows, n: n}
}

// Differ reports whether row i, which is at least 1, has another key than row i−1. It is fast for one row after the
// other.
func (b *Neighbours) Differ(i int) bool {
	if i < b.begin || i >= b.end {
		b.load(i)
	}
	return b.differs[i-b.begin]
}

// load compares a block of rows from row i on.
func (b *Neighbours) load(i int) {
	b.begin, b.end = i, min(i+blockRows, b.n)
	differs, words, pairs := b.differs[:b.end-i], b.words[:b.end-i+1], b.rows.from(i-1)
	clear(differs)
	for number := range b.host.plan.Segments {
		s := &b.host.plan.Segments[number]
		for word := range s.Words() {
			b.host.Encode(number, word, pairs, words)
			for j := range differs {
				differs[j] = differs[j] || words[j] != words[j+1]
			}
		}
		if s.Tail == nil {
			continue
		}
		for j := range differs {
			differs[j] = differs[j] || b.host.compareTails(s.Tail, pairs.row(j), b.host, pairs.row(j+1)) != 0
		}
	}
}
