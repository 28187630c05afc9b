package rowgroups

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// step is an array on the way from a column to a leaf.
type step struct {
	kind stepKind
	// nullable is whether the array may have nulls.
	nullable bool
	// field is the number of a struct's field that the way goes through.
	field int
}

type stepKind uint8

const (
	stepValues stepKind = iota // the leaf
	stepList                   // a list or map, whose elements are the next array
	stepStruct
)

// mostLevel is the greatest level of an entry: levels are bytes.
const mostLevel = math.MaxUint8

// leavesOf describes the leaves of a file's columns, in the order of the file.
func leavesOf(s *arrow.Schema, about *parquetformat.Schema) ([]leaf, error) {
	var leaves []leaf
	for i, field := range s.Fields() {
		var err error
		eachLeaf(field.Type, field.Nullable, nil, func(path []step, t arrow.DataType) {
			node := &about.Columns[len(leaves)]
			if node.MaxDefinition > mostLevel || node.MaxRepetition > mostLevel {
				err = fmt.Errorf("column %q has more than %d levels of lists, structs and nulls: %w", field.Name, mostLevel, arrow.ErrNotImplemented)
			}
			c := newLeaf(node, t)
			c.column = i
			if len(path) > 1 {
				c.path = path
			}
			leaves = append(leaves, c)
		})
		if err != nil {
			return nil, err
		}
	}
	return leaves, nil
}

// eachLeaf calls f for the leaves below an array, with the way to each.
func eachLeaf(t arrow.DataType, nullable bool, above []step, f func(path []step, t arrow.DataType)) {
	with := func(s step) []step {
		s.nullable = nullable
		return append(slices.Clip(above), s)
	}
	switch t := t.(type) {
	case *arrow.StructType:
		for i, field := range t.Fields() {
			eachLeaf(field.Type, field.Nullable, with(step{kind: stepStruct, field: i}), f)
		}
	case *arrow.MapType:
		eachLeaf(t.Elem(), false, with(step{kind: stepList}), f)
	case *arrow.ListType:
		eachLeaf(t.Elem(), true, with(step{kind: stepList}), f)
	case *arrow.FixedSizeListType:
		eachLeaf(t.Elem(), true, with(step{kind: stepList}), f)
	default:
		f(with(step{kind: stepValues}), t)
	}
}
