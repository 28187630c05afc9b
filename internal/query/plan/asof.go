package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/join"
)

// AsOfOptions describe an [AsOf].
type AsOfOptions struct {
	// On is the pair of keys of which the nearest is found, By are pairs that are equal.
	On JoinKey
	By []JoinKey
	// Direction, NotEqual, Tolerance, MatchedOnly and Sorted are those of
	// join.AsOfOptions.
	Direction   join.Direction
	NotEqual    bool
	Tolerance   any
	MatchedOnly bool
	Sorted      bool
	Suffix      string
}

// AsOf yields each left row with at most one right row: that with the nearest key in a
// direction.
type AsOf struct {
	cautious
	left, right Node
	options     AsOfOptions
	schema      *arrow.Schema
}

// NewAsOf makes an as-of join.
func NewAsOf(left, right Node, options AsOfOptions) (*AsOf, error) {
	options.By = slices.Clone(options.By)
	a := &AsOf{left: left, right: right, options: options}
	var err error
	if a.schema, err = join.AsOfSchema(left.Schema(), right.Schema(), a.On(), a.JoinOptions()); err != nil {
		return nil, err
	}
	return a, checkNames(a.schema)
}

// Schema implements [Node].
func (a *AsOf) Schema() *arrow.Schema { return a.schema }

// Inputs returns the left and the right side.
func (a *AsOf) Inputs() []Node { return []Node{a.left, a.right} }

// WithInputs implements [Node].
func (a *AsOf) WithInputs(inputs ...Node) (Node, error) {
	return node(NewAsOf(inputs[0], inputs[1], a.options))
}

// Options returns the options.
func (a *AsOf) Options() AsOfOptions { return a.options }

// On returns the pair of keys for package join.
func (a *AsOf) On() join.On { return joinOn(a.options.On) }

// JoinOptions returns the options for package join.
func (a *AsOf) JoinOptions() join.AsOfOptions {
	o := a.options
	return join.AsOfOptions{
		By: joinOns(o.By), Direction: o.Direction, NotEqual: o.NotEqual, Tolerance: o.Tolerance,
		MatchedOnly: o.MatchedOnly, Sorted: o.Sorted, Suffix: o.Suffix,
	}
}

// joinOns returns keys for package join.
func joinOns(keys []JoinKey) []join.On {
	list := make([]join.On, len(keys))
	for i, k := range keys {
		list[i] = joinOn(k)
	}
	return list
}

func joinOn(k JoinKey) join.On {
	if name, ok := k.shared(); ok {
		return join.On{Left: name, Right: name}
	}
	return join.On{LeftExpr: k.Left, RightExpr: k.Right}
}

// String implements [Node].
func (a *AsOf) String() string {
	keys := make([]string, len(a.options.By))
	for i, k := range a.options.By {
		keys[i] = k.String()
	}
	text := fmt.Sprintf("as-of join %v on %v", a.options.Direction, a.options.On)
	if len(keys) > 0 {
		text += " by " + strings.Join(keys, ", ")
	}
	if a.options.Tolerance != nil {
		text += fmt.Sprintf(" within %v", a.options.Tolerance)
	}
	return text
}

func (a *AsOf) readsOrder(input int, own bool) bool { return own || input == 1 }

func (a *AsOf) divided(d *distribution, inputs []spread) (spread, error) {
	if !inputs[0].all {
		return spread{}, nil
	}
	return d.broadcast(a, inputs)
}
