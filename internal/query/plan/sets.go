package plan

import (
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// NewSets makes a node of the left rows that the right side has, with join.Semi, or has not, with
// join.Anti. The sides have columns of the same names and types, as those of a union. Rows are equal
// as keys are: null equals null. Each row is in the result once or, if all is set, as often as it is
// in both sides, or more often in the left one than in the right one.
func NewSets(left, right Node, kind join.Kind, all bool) (Node, error) {
	union, err := NewUnion(left, right)
	if err != nil {
		return nil, err
	}
	right = union.inputs[1]
	names := columnsOf(left.Schema())
	if !all {
		if left, err = NewDistinct(left); err != nil {
			return nil, err
		}
		return matchingRows(left, right, kind, names)
	}
	number := Computed("number among equal rows")
	for _, side := range []*Node{&left, &right} {
		if *side, err = numberedRows(*side, names, number); err != nil {
			return nil, err
		}
	}
	matching, err := matchingRows(left, right, kind, append(names, number))
	if err != nil {
		return nil, err
	}
	return exactly(matching, names)
}

// matchingRows joins rows that are equal in all columns.
func matchingRows(left, right Node, kind join.Kind, names []string) (Node, error) {
	options := JoinOptions{Kind: kind, NullsEqual: true}
	for _, name := range names {
		options.Keys = append(options.Keys, JoinKey{Left: expr.Col(name), Right: expr.Col(name)})
	}
	return node(NewJoin(left, right, options))
}

// numberedRows numbers the rows with equal values.
func numberedRows(input Node, names []string, number string) (Node, error) {
	partition := make([]expr.Expr, len(names))
	for i, name := range names {
		partition[i] = expr.Col(name)
	}
	return node(NewOver(input, WindowKeys{Partition: partition}, []Aggregation{{Function: "row_number", Name: number}}))
}
