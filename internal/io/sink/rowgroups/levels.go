package rowgroups

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// levels are those of the entries of a column chunk within lists, maps and structs. An entry is a value, or a null, an empty list
// or a struct that is null on the way to it.
type levels struct {
	leaf *leaf
	// definitions are the numbers of the optional parts and lists on the way to each entry that are there.
	definitions []uint8
	// repetitions are the numbers of the lists that each entry continues, or nil without lists.
	repetitions []uint8
	// starts are the entries that rows begin with, and the number of entries, or nil without lists: a row is one entry.
	starts []int
}

// valuesIn returns the number of values in a range of entries.
func (l *levels) valuesIn(from, end int) int {
	return bytes.Count(l.definitions[from:end], []byte{l.leaf.mostDefinition})
}

// reserve allocates memory for n more entries.
func (l *levels) reserve(n int) {
	l.definitions = slices.Grow(l.definitions, n)
	if l.leaf.mostRepetition > 0 {
		l.repetitions = slices.Grow(l.repetitions, n)
	}
}

// add adds n entries of a definition level: the first one continues a number of lists, the others continue them to a depth.
func (l *levels) add(n int, definition, first, depth uint8) {
	l.definitions = appendCopies(l.definitions, n, definition)
	if l.leaf.mostRepetition > 0 && n > 0 {
		l.repetitions = appendCopies(append(l.repetitions, first), n-1, depth)
	}
}

func appendCopies(to []uint8, n int, v uint8) []uint8 {
	to = slices.Grow(to, n)
	begin := len(to)
	to = to[:begin+n]
	for i := range to[begin:] {
		to[begin+i] = v
	}
	return to
}

// findRows finds the entries that the rows begin with, in the memory of starts.
func (l *levels) findRows(rows int, starts *[]int) {
	if l.leaf.mostRepetition == 0 {
		return
	}
	l.starts = resized(*starts, rows+1)[:0]
	for entry, level := range l.repetitions {
		if level == 0 {
			l.starts = append(l.starts, entry)
		}
	}
	l.starts = append(l.starts, len(l.repetitions))
	*starts = l.starts
}

// appendPage appends the levels of the entries of a page.
func (l *levels) appendPage(to []byte, from, end int) []byte {
	if width := bits.Len8(l.leaf.mostRepetition); width > 0 {
		to = appendPackedLevels(to, l.repetitions[from:end], width)
	}
	if width := bits.Len8(l.leaf.mostDefinition); width > 0 {
		to = appendPackedLevels(to, l.definitions[from:end], width)
	}
	return to
}

// appendPackedLevels appends levels in a single run, behind its length.
func appendPackedLevels(to []byte, levels []uint8, width int) []byte {
	begin := len(to)
	to = append(to, 0, 0, 0, 0)
	if len(levels) > 0 && bytes.Count(levels, levels[:1]) == len(levels) {
		to = appendRun(to, len(levels), uint32(levels[0]), width)
	} else {
		to = appendPacked(to, levels, width)
	}
	binary.LittleEndian.PutUint32(to[begin:], uint32(len(to)-begin-4))
	return to
}
