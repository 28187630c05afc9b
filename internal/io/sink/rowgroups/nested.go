package rowgroups

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// nestedEncoder encodes a leaf of arrays of lists, maps and structs.
type nestedEncoder struct {
	leaf    *leaf
	columns []arrow.Array
}

func newNestedEncoder(c *leaf, columns []arrow.Array) *nestedEncoder {
	for _, column := range columns {
		countNulls(column)
	}
	return &nestedEncoder{c, columns}
}

func (e *nestedEncoder) encode(pageRows int, raw []byte, s *scratch) (*chunk, error) {
	shredder := shredder{leaf: e.leaf, levels: levels{leaf: e.leaf, definitions: s.definitions[:0], repetitions: s.repetitions[:0]}, spans: s.spans[:0]}
	var parts []part
	count := 0 // of rows
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for _, column := range e.columns {
		values, spans, err := shredder.shred(column)
		if err != nil {
			return nil, err
		}
		count += column.Len()
		switch len(spans) {
		case 0:
		case 1:
			parts = append(parts, part{Array: array.NewSlice(values, int64(spans[0].from), int64(spans[0].end))})
		default:
			values.Retain()
			parts = append(parts, part{values, spans})
		}
	}
	l := &shredder.levels
	l.findRows(count, &s.starts)
	s.definitions, s.repetitions = l.definitions, l.repetitions
	if cap(shredder.spans) > cap(s.spans) {
		s.spans = shredder.spans
	}
	return encodeParts(e.leaf, parts, rows{count: len(l.definitions), valid: shredder.count, levels: l}, pageRows, raw, s)
}

func (e *nestedEncoder) release() { release.Arrow(e.columns) }

// countNulls counts the nulls of an array and of the arrays below, which arrow-go does once for each array, and not safely for
// concurrent use. Encoders of several leaves and row groups share arrays.
func countNulls(a arrow.Array) {
	a.NullN()
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			countNulls(a.Field(i))
		}
	case array.ListLike:
		countNulls(a.ListValues())
	}
}
