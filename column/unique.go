package column

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// If the values of a dictionary are unique, its codes may be compared instead of its
// values. The check takes 20 to 50 ns for each value, so it is made if the rows far
// outnumber the values. An operator that needs the answer for a larger dictionary
// computes it on the device and calls LearnUnique.
const (
	uniqueAnyway  = 128
	uniquePerRows = 64
)

// worthLookingAt reports whether a dictionary is small relative to the rows that
// refer to it.
func worthLookingAt(values, rows int) bool { return values <= uniqueAnyway+rows/uniquePerRows }

// uniqueValues reports whether no two elements of a chunk are equal, by their bytes.
// It returns Unknown for types with equal values of different bytes, such as floats,
// for nested types, and for contents that are out of range.
func (c *chunk) uniqueValues(t arrow.DataType) Answer {
	l, err := layoutOf(t)
	if err != nil || !comparedByBytes(l) {
		return Unknown
	}
	value, ok := c.valueBytes(l)
	if !ok {
		return Unknown
	}
	valid, err := c.validity(l)
	if err != nil {
		return Unknown
	}
	seen := make(map[string]struct{}, c.length)
	null := false
	for i := range c.length {
		if valid != nil && !bitIsSet(valid, c.offset+i) {
			if null {
				return No
			}
			null = true
			continue
		}
		bytes, ok := value(i)
		if !ok {
			return Unknown
		}
		if _, met := seen[string(bytes)]; met {
			return No
		}
		seen[string(bytes)] = struct{}{}
	}
	return Yes
}

// comparedByBytes reports whether values of a type are equal exactly if their bytes
// are.
func comparedByBytes(l layout.Layout) bool {
	switch l.Kind {
	case layout.Binary:
		return true
	case layout.Fixed:
		return l.EqualByBytes()
	}
	return false
}

// valueBytes returns a function that returns the bytes of element i. The function
// checks offsets before it follows them.
func (c *chunk) valueBytes(l layout.Layout) (value func(i int) (bytes []byte, ok bool), ok bool) {
	if c.length == 0 {
		return func(int) ([]byte, bool) { return nil, true }, true
	}
	if l.Kind == layout.Fixed {
		values, err := c.elements(l, 1)
		return func(i int) ([]byte, bool) { return values[i*l.Width:][:l.Width], true }, err == nil
	}
	offsets, err := c.elements(l, 1)
	data := c.buffer(l, 2)
	return func(i int) ([]byte, bool) {
		first, last := signedAt(offsets[i*l.Width:], l.Width), signedAt(offsets[(i+1)*l.Width:], l.Width)
		if first < 0 || last < first || last > int64(len(data)) {
			return nil, false
		}
		return data[first:last], true
	}, err == nil
}
