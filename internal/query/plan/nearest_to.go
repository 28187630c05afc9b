package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/vector"
)

// NearestToOptions describe a [NearestTo].
type NearestToOptions struct {
	// On is the pair of vectors.
	On JoinKey
	// K, Metric, Dim, MatchedOnly, Distance and Rank are those of vector.JoinOptions.
	K              int
	Metric         vector.Metric
	Dim            int
	MatchedOnly    bool
	Distance, Rank string
	// Suffix is added to the names of right columns that the left side has too.
	Suffix string
	// Columns are those of the result. Nil is all columns of both sides.
	Columns []vector.JoinColumn
}

// NearestTo yields each left row with its nearest right rows by two vectors.
type NearestTo struct {
	cautious
	left, right Node
	options     NearestToOptions
	schema      *arrow.Schema
}

// NewNearestTo makes a join of rows with their nearest rows.
func NewNearestTo(left, right Node, options NearestToOptions) (*NearestTo, error) {
	if options.Columns == nil {
		var err error
		if options.Columns, err = sideColumns(left.Schema(), right.Schema(), options.Suffix); err != nil {
			return nil, err
		}
	}
	n := &NearestTo{left: left, right: right, options: options}
	var err error
	if n.schema, err = vector.JoinSchema(left.Schema(), right.Schema(), options.On.Left, options.On.Right, n.JoinOptions()); err != nil {
		return nil, err
	}
	return n, checkNames(n.schema)
}

// sideColumns returns the columns of both sides under the names that a cross join gives them.
func sideColumns(left, right *arrow.Schema, suffix string) ([]vector.JoinColumn, error) {
	named, err := join.Schema(left, right, nil, join.Options{Kind: join.Cross, Suffix: suffix})
	if err != nil {
		return nil, err
	}
	columns := make([]vector.JoinColumn, 0, named.NumFields())
	for i, name := range slices.Concat(columnsOf(left), columnsOf(right)) {
		columns = append(columns, vector.JoinColumn{Right: i >= left.NumFields(), From: name, Name: named.Field(i).Name})
	}
	return columns, nil
}

// Schema implements [Node].
func (n *NearestTo) Schema() *arrow.Schema { return n.schema }

// Inputs returns the left and the right side.
func (n *NearestTo) Inputs() []Node { return []Node{n.left, n.right} }

// WithInputs implements [Node].
func (n *NearestTo) WithInputs(inputs ...Node) (Node, error) {
	return node(NewNearestTo(inputs[0], inputs[1], n.options))
}

// Options returns the options.
func (n *NearestTo) Options() NearestToOptions { return n.options }

// JoinOptions returns the options for package vector.
func (n *NearestTo) JoinOptions() vector.JoinOptions {
	o := n.options
	return vector.JoinOptions{
		K: o.K, Metric: o.Metric, Dim: o.Dim, MatchedOnly: o.MatchedOnly, Columns: o.Columns, Distance: o.Distance, Rank: o.Rank,
	}
}

// String implements [Node].
func (n *NearestTo) String() string {
	return fmt.Sprintf("%d nearest by %v on %v", n.options.K, n.options.Metric, n.options.On)
}

func (n *NearestTo) estimate(a *Analysis, _ Size) Size {
	left, right := a.rowsOf(n.left), a.rowsOf(n.right)
	k := int64(n.options.K)
	if left.Rows < 0 || left.Rows > (1<<62)/k {
		return Size{Rows: -1}
	}
	if right.Rows >= 0 {
		k = max(min(k, right.Rows), 1)
	}
	return Size{Rows: left.Rows * k}
}

func (n *NearestTo) isEmpty() bool {
	return isNothing(n.left) || n.options.MatchedOnly && isNothing(n.right)
}

func (n *NearestTo) readsOrder(input int, own bool) bool { return own || input == 1 }

func (n *NearestTo) reads(wanted columnSet) []columnSet {
	left, right := columnSet{}.read(n.options.On.Left), columnSet{}.read(n.options.On.Right)
	for _, c := range n.needed(wanted).Columns {
		if c.Right {
			right[c.From] = true
		} else {
			left[c.From] = true
		}
	}
	return []columnSet{left, right}
}

func (n *NearestTo) pruned(inputs []Node, wanted columnSet) (Node, error) {
	return node(NewNearestTo(inputs[0], inputs[1], n.needed(wanted)))
}

// needed returns the options without the columns that are not read. One of them is left, for the number of rows.
func (n *NearestTo) needed(wanted columnSet) NearestToOptions {
	o := n.options
	o.Columns = slices.DeleteFunc(slices.Clone(o.Columns), func(c vector.JoinColumn) bool { return !wanted[c.Name] })
	if !wanted[o.Distance] && len(o.Columns) > 0 {
		o.Distance = ""
	}
	if !wanted[o.Rank] && (len(o.Columns) > 0 || o.Distance != "") {
		o.Rank = ""
	}
	if len(o.Columns) == 0 {
		o.Columns = []vector.JoinColumn{}
		if o.Distance == "" && o.Rank == "" {
			o.Columns = n.options.Columns[:1]
		}
	}
	return o
}

func (n *NearestTo) same(other Node) bool {
	o, ok := other.(*NearestTo)
	if !ok {
		return false
	}
	a, b := n.options, o.options
	return a.On.Left.Same(b.On.Left) && a.On.Right.Same(b.On.Right) && slices.Equal(a.Columns, b.Columns) && a.K == b.K && a.Metric == b.Metric && a.Dim == b.Dim &&
		a.MatchedOnly == b.MatchedOnly && a.Distance == b.Distance && a.Rank == b.Rank
}

func (n *NearestTo) divided(d *distribution, inputs []spread) (spread, error) {
	if !inputs[0].all {
		return spread{}, nil
	}
	return d.broadcast(n, inputs)
}
