package group

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Rows that are sorted by their key are in the order of their partitions. They stay where they are: a kernel finds where
// partitions begin, and writes the place of each row in its partition; a block adds up the rows of a partition from the
// columns of the table. A column of integers remembers whether its values never decrease.

// findSorted finds out whether the rows are sorted by the only key, which has no nulls. It waits if the order of the column is
// not known, and rows are many. Values that another library may change could lose their order before they are placed.
func (p *partitioning) findSorted() error {
	k := &p.keys.keys[0]
	if p.hashed != nil || len(p.keys.keys) != 1 || k.column == nil || k.constant || k.valid.Len() > 0 || k.column.MayChange() || tuningOf(p.call.Context()).Without.Has(sortedPartitions) {
		return nil
	}
	known := k.column.Ascending()
	if known == column.Unknown && p.finder.waits() && p.rows >= tuningOf(p.call.Context()).SortedRows {
		var err error
		if known, err = p.learnAscending(k.column); err != nil {
			return err
		}
	}
	p.sorted = known == column.Yes
	return nil
}

// learnAscending finds out whether the values of a key never decrease.
func (p *partitioning) learnAscending(c *column.Column) (column.Answer, error) {
	flag, err := p.scratch(4)
	if err != nil {
		return column.Unknown, err
	}
	if err := flag[0].Fill(p.call.Stream, 0); err != nil {
		return column.Unknown, err
	}
	if err := p.launchSorted("find_descents", p.keys.argument(), p.counted, int64(p.rows), flag[0]); err != nil {
		return column.Unknown, err
	}
	words, err := memory.Reinterpret[uint32](flag[0])
	if err != nil {
		return column.Unknown, err
	}
	var descends [1]uint32
	if err := words.Download(p.call.Context(), p.call.Stream, descends[:]); err != nil {
		return column.Unknown, err
	}
	known := column.Yes
	if descends[0] != 0 {
		known = column.No
	}
	c.LearnAscending(known)
	return known, nil
}

// launchSorted launches a kernel that loops over the rows.
func (p *partitioning) launchSorted(entry string, arguments ...any) error {
	loops := max(p.call.Stream.Device().Info().Multiprocessors, 1) * residentBlocks
	blocks := min(max((p.rows+sortedRows-1)/sortedRows, 1), loops)
	return p.launch("partition_sorted", entry, blocks, partitionThreads, 0, arguments...)
}

// allocateSorted allocates the memory of partitions whose rows stay where they are.
func (p *partitioning) allocateSorted() error {
	n, chunks := uint64(p.rows), p.chunkSizes()
	met := uint64(0)
	if len(p.conditions) > 0 {
		met = 4 * n
	}
	all, err := p.scratch(append(append(chunks, 4*uint64(p.partitions)+4, 2*n, met), p.resultSizes()...)...)
	if err != nil {
		return err
	}
	if err := p.takeChunks(all[:len(chunks)]); err != nil {
		return err
	}
	all = all[len(chunks):]
	p.starts, p.places[1], p.met = all[0], all[1], all[2]
	p.takeResults(all[3:])
	return nil
}

// placeSorted finds where partitions begin, and the places of the rows in them.
func (p *partitioning) placeSorted() error {
	err := p.launchSorted("place_sorted", p.keys.argument(), p.counted, int64(p.rows), uint32(p.bits), uint32(p.partitions), p.starts, p.places[1],
		p.conditionsArgument(), p.met)
	if err != nil {
		return err
	}
	return p.launch("partition_sorted", "list_chunks", (p.partitions+partitionThreads-1)/partitionThreads, partitionThreads, 0, p.starts, uint32(p.partitions), p.chunks.asArgument())
}

// rowsOfTerm adds the rows of a term to its argument: those of the table, or those that have moved.
func (p *partitioning) rowsOfTerm(l *termLayout, t *partitionTerm) {
	l.form, l.step = uint32(t.form), 1
	if t.kind == countRows {
		return
	}
	low, level := &p.carried[t.carried], len(p.levels)-1
	if !p.sorted {
		l.values = low.buffers[level]
		if t.kind == sumDecimals {
			l.high = p.carried[t.high].buffers[level]
		}
		return
	}
	l.values = low.source.values
	if t.kind == sumDecimals {
		l.high, l.step = p.carried[t.high].source.values, 2
		return
	}
	l.form = uint32(low.source.form)
}

// conditionsMet returns the conditions that each row meets, or nothing without any.
func (p *partitioning) conditionsMet() memory.Slice[uint8] {
	switch {
	case len(p.conditions) == 0:
		return memory.Slice[uint8]{}
	case p.sorted:
		return p.met
	}
	return p.carried[len(p.carried)-1].buffers[len(p.levels)-1]
}
