package pages

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

const (
	// blockEntries is the number of entries whose levels are decoded at a time.
	blockEntries = 1024
	// firstEntries is the number of entries that memory is allocated for at first, or entriesOfByte for each byte of the column
	// chunk: a damaged one claims any number.
	firstEntries  = 1 << 20
	entriesOfByte = 8
)

// mostElements is the number of elements of an array at most.
var mostElements = 1 << 28 // tests change it

// leafDecoder decodes the entries of a leaf: their levels, and values of those that are elements.
type leafDecoder struct {
	Decoder
	leaf *Nested
	// elements are the definition levels from which on the lists around the leaf have an element, that of the outermost first.
	elements []uint32
	// most is the number of entries that memory is allocated for at first.
	most int64
	// nodes are the lists and structs of which it is the first leaf.
	nodes []*nestedNode

	// definitions and repetitions are the levels of the entries that were loaded, from the next one on.
	definitions, repetitions           []uint32
	definitionMemory, repetitionMemory [blockEntries]uint32
	// last is the definition level of the entry before.
	last uint32

	// length is the number of values of the array with nulls, room the number that it has memory for.
	length, nulls, room int
	validity            bitmap
}

// element is the definition level from which on the next list around the leaf has an element.
func (l *leafDecoder) element() uint32 { return lastOf(l.elements) }

func lastOf(levels []uint32) uint32 {
	if len(levels) == 0 {
		return 0
	}
	return levels[len(levels)-1]
}

// begin begins an array of rows, of those that are left.
func (l *leafDecoder) begin(rows, left int64) {
	l.length, l.nulls = 0, 0
	l.validity = bitmap{growing{mem: l.mem}}
	l.room = int(rows)
	if len(l.elements) > 0 {
		entries := l.left + int64(len(l.definitions))
		expected := float64(entries) * float64(rows) / float64(max(left, 1))
		l.room = int(min(entries, l.most, int64(expected)+64)) // more are added if the rows have more
	}
	l.values.begin(l.room, l.mem)
}

// read decodes the entries of some rows.
func (l *leafDecoder) read(rows int64) error {
	begun := int64(0)
	for {
		if len(l.definitions) == 0 {
			if begun == rows && len(l.elements) == 0 {
				return nil
			}
			if err := l.load(); err != nil {
				return err
			}
		}
		if len(l.definitions) == 0 && begun < rows {
			return fmt.Errorf("the levels end %d rows early: %w", rows-begun, ErrDamaged)
		}
		n := l.until(&begun, rows)
		if n == 0 {
			return nil
		}
		if err := l.take(l.definitions[:n], l.repetitions[:n]); err != nil {
			return err
		}
		l.definitions, l.repetitions = l.definitions[n:], l.repetitions[n:]
	}
}

// load decodes the levels of the next entries. There are none at the end.
func (l *leafDecoder) load() error {
	for l.page.left == 0 {
		if len(l.plan) == 0 {
			return nil
		}
		if err := l.nextPage(); err != nil {
			return err
		}
	}
	n := min(blockEntries, l.page.left)
	l.page.left -= n
	l.left -= int64(n)
	l.definitions, l.repetitions = l.definitionMemory[:n], l.repetitionMemory[:n] // zero without levels
	if l.leaf.Depth > 0 {
		if err := l.page.repetitions.numbers(l.repetitions, uint32(l.leaf.Depth)); err != nil {
			return err
		}
	}
	if l.leaf.Definition == 0 {
		return nil
	}
	return l.page.levels.numbers(l.definitions, uint32(l.leaf.Definition))
}

// until returns the number of the entries that were loaded which belong to rows, of which some begun before.
func (l *leafDecoder) until(begun *int64, rows int64) int {
	for i, level := range l.repetitions {
		if level > 0 {
			continue
		}
		if *begun == rows {
			return i
		}
		*begun++
	}
	return len(l.repetitions)
}

// take decodes entries: lists and structs that begin with them, and values.
func (l *leafDecoder) take(definitions, repetitions []uint32) error {
	if err := l.checkLists(definitions, repetitions); err != nil {
		return err
	}
	for _, n := range l.nodes {
		if err := n.take(definitions, repetitions); err != nil {
			return err
		}
	}
	element, begin := l.element(), l.length
	var valid int
	if uint32(l.leaf.Definition) > element {
		valid = l.takeValidity(definitions, element)
	} else {
		for _, level := range definitions {
			if level >= element {
				l.length++
			}
		}
		valid = l.length - begin
	}
	if l.length > mostElements {
		return fmt.Errorf("more than %d elements: %w", mostElements, ErrLong)
	}
	if l.length > l.room {
		l.room = max(l.length, int(min(2*int64(l.room), int64(l.length)+l.left)))
		l.values.extend(l.room)
	}
	err := l.takeValues(begin, l.length-begin, valid, l.validity.memory)
	if errors.Is(err, errLong) {
		return fmt.Errorf("%w: %w", err, ErrLong)
	}
	return err
}

// takeValidity adds the validity of the entries that are elements, and returns how many are valid.
func (l *leafDecoder) takeValidity(definitions []uint32, element uint32) (valid int) {
	l.validity.reserve(l.length + len(definitions))
	begin, most := l.length, uint32(l.leaf.Definition)
	at := begin
	for _, level := range definitions {
		if level < element {
			continue
		}
		l.validity.put(at, level == most)
		at++
		if level == most {
			valid++
		}
	}
	l.length = at
	l.nulls += at - begin - valid
	return valid
}

// checkLists checks that entries continue lists which have an element.
func (l *leafDecoder) checkLists(definitions, repetitions []uint32) error {
	last := l.last
	l.last = definitions[len(definitions)-1]
	if len(l.elements) == 0 {
		return nil
	}
	for i, level := range repetitions {
		if level > 0 {
			if element := l.elements[level-1]; last < element || definitions[i] < element {
				return fmt.Errorf("repetition levels of a list that does not go on: %w", ErrDamaged)
			}
		}
		last = definitions[i]
	}
	return nil
}

// ended reports whether all entries were decoded.
func (l *leafDecoder) ended() bool { return l.left == 0 && len(l.definitions) == 0 }

// end returns the array of the values.
func (l *leafDecoder) end() arrow.Array {
	validity, nulls := l.validity.memory, l.nulls
	l.validity.memory = nil
	if v, ok := l.values.(*instants); ok {
		var absent int
		validity, absent = v.absent(l.length, validity, l.mem)
		nulls += absent
	}
	return l.array(l.length, nulls, validity)
}

func (l *leafDecoder) drop() {
	l.validity.drop()
	l.values.drop()
}
