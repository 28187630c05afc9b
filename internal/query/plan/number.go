package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Number yields the rows of its input with further columns that depend on the number of each
// row alone.
type Number struct {
	single
	options NumberOptions
	// devices is the number of devices that number the rows, or zero.
	devices int
}

// NumberOptions are the names of the columns of a [Number]. An empty name leaves a column
// out.
type NumberOptions struct {
	// Row is the number of the row, from 0, as int64.
	Row string
	// Random is value number Row of the seed, as package random makes integers. Uniform is
	// that of floats.
	Random, Uniform string
	Seed            uint64
}

// NewNumber makes a node that numbers rows.
func NewNumber(input Node, options NumberOptions) (*Number, error) {
	n := &Number{single: singleOf(input, nil), options: options}
	fields := slices.Clone(input.Schema().Fields())
	for _, f := range []arrow.Field{
		{Name: options.Row, Type: arrow.PrimitiveTypes.Int64}, {Name: options.Random, Type: arrow.PrimitiveTypes.Uint64}, {Name: options.Uniform, Type: arrow.PrimitiveTypes.Float64},
	} {
		if f.Name != "" {
			fields = append(fields, f)
		}
	}
	n.schema = arrow.NewSchema(fields, nil)
	return n, checkNames(n.schema)
}

// Options returns the options.
func (n *Number) Options() NumberOptions { return n.options }

// needed returns the options without the columns that nothing reads.
func (n *Number) needed(names columnSet) NumberOptions {
	o := n.options
	for _, name := range []*string{&o.Row, &o.Random, &o.Uniform} {
		if !names[*name] {
			*name = ""
		}
	}
	return o
}

func (o NumberOptions) isEmpty() bool { return o.Row == "" && o.Random == "" && o.Uniform == "" }

// onDevices returns a node that several devices run, each on a part of the rows of the input.
func (n *Number) onDevices(input Node, devices Devices) (Node, error) {
	numbered, err := NewNumber(input, n.options)
	if err != nil {
		return nil, err
	}
	numbered.devices = devices.Count
	return numbered, nil
}

// CountsRows reports whether several devices must count the rows below the node to number them.
// Otherwise they know the numbers before they read the rows: those of a scan by its batches, those
// that have moved from device to device by what each has got.
func (n *Number) CountsRows() bool {
	below := n.input
	for below.rowNumbers() == inputNumbers {
		below = below.Inputs()[0]
	}
	return below.rowNumbers() == unknownNumbers
}

// WithInputs implements [Node].
func (n *Number) WithInputs(inputs ...Node) (Node, error) {
	numbered, err := NewNumber(inputs[0], n.options)
	if err != nil {
		return nil, err
	}
	numbered.devices = n.devices
	return numbered, nil
}

// String implements [Node].
func (n *Number) String() string {
	text := "number rows"
	if n.options.Random != "" || n.options.Uniform != "" {
		text += fmt.Sprintf(", random numbers of seed %d", n.options.Seed)
	}
	switch {
	case n.devices == 0:
	case n.CountsRows():
		text += fmt.Sprintf(", counted on %d devices", n.devices)
	default:
		text += fmt.Sprintf(", on %d devices", n.devices)
	}
	return text
}

// Draw yields random rows of its input, each of them any number of times.
type Draw struct {
	single
	options DrawOptions
}

// DrawOptions are how many rows a [Draw] yields: a number or, if Rows is All, a fraction of
// those of the input.
type DrawOptions struct {
	Rows     int64
	Fraction float64
	Seed     uint64
}

// NewDraw makes a node that draws rows.
func NewDraw(input Node, options DrawOptions) *Draw {
	return &Draw{singleOf(input, input.Schema()), options}
}

// Options returns the options.
func (d *Draw) Options() DrawOptions { return d.options }

// WithInputs implements [Node].
func (d *Draw) WithInputs(inputs ...Node) (Node, error) { return NewDraw(inputs[0], d.options), nil }

// String implements [Node].
func (d *Draw) String() string {
	if d.options.Rows == All {
		return fmt.Sprintf("draw %v of the rows with replacement", d.options.Fraction)
	}
	return fmt.Sprintf("draw %d rows with replacement", d.options.Rows)
}

func (n *Number) holdsRows() bool { return false }

func (n *Number) isEmpty() bool { return isNothing(n.input) }

func (n *Number) rowNumbers() rowNumbers { return inputNumbers }

func (n *Number) first(p *limitPusher, rows int64) (Node, error) { return p.firstOf(n, rows) }

func (n *Number) reads(wanted columnSet) []columnSet { return []columnSet{wanted} }

func (n *Number) pruned(inputs []Node, wanted columnSet) (Node, error) {
	options := n.needed(wanted)
	if options.isEmpty() {
		return inputs[0], nil
	}
	return node(NewNumber(inputs[0], options))
}

func (n *Number) same(other Node) bool {
	o, ok := other.(*Number)
	return ok && n.options == o.options
}

func (d *Draw) estimate(_ *Analysis, first Size) Size {
	if d.options.Rows == All {
		return scaled(first, d.options.Fraction)
	}
	return Size{Rows: d.options.Rows}
}

func (d *Draw) isEmpty() bool { return isNothing(d.input) }

func (d *Draw) reads(wanted columnSet) []columnSet { return []columnSet{wanted} }

func (d *Draw) same(other Node) bool {
	o, ok := other.(*Draw)
	return ok && d.options == o.options
}

func (n *Number) divided(d *distribution, inputs []spread) (spread, error) {
	if !inputs[0].all {
		return spread{}, nil
	}
	numbered, err := n.onDevices(inputs[0].node, d.devices)
	return spread{node: numbered, all: true}, err
}

func (d *Draw) divided(to *distribution, inputs []spread) (spread, error) {
	return to.onFirst(d, inputs, "to draw rows with replacement")
}
