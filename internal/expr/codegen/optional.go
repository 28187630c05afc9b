package codegen

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
)

// mostExact is the number of inputs up to which a shape has the bitmaps that the columns
// have. Each input, and each dictionary, doubles the number of shapes, and each shape
// takes the driver 8 to 25 ms to compile. More inputs therefore share their shapes: one
// if no column has a bitmap, and one with optional bitmaps for all others.
const mostExact = 4

// share makes the shapes of many inputs equal. An optional bitmap may be absent: its
// address is then zero, and all rows are valid. Bits are read in one way by all inputs,
// and so are decimals.
func share(inputs []Input) {
	if len(inputs) <= mostExact {
		return
	}
	all := Input{Wide: true}
	for i := range inputs {
		inputs[i].each(func(input *Input) {
			all.Optional = all.Optional || input.Validity != NoBits
			all.Validity = max(all.Validity, WordBits, input.Validity, input.Values)
			all.Wide = all.Wide && (input.Wide || !input.decimal)
		})
	}
	for i := range inputs {
		inputs[i].each(func(input *Input) {
			input.Optional, input.Validity = all.Optional, NoBits
			if all.Optional {
				input.Validity = all.Validity
			}
			if input.Values != NoBits {
				input.Values = all.Validity
			}
			input.Wide = input.decimal && all.Wide
		})
	}
}

// each calls f for the input and for its dictionary.
func (i *Input) each(f func(*Input)) {
	f(i)
	if i.Dictionary != nil {
		i.Dictionary.each(f)
	}
}

// optional reports whether the bitmaps of inputs, and of the outputs, may be absent.
func (s Shape) optional() bool { return len(s.Inputs) > 0 && s.Inputs[0].Optional }

// neverNull returns the outputs of a program that have no null with these columns: they
// have no bitmap. It returns nil if the shape has exactly the bitmaps of the columns.
func (g *Generator) neverNull(program *exprtree.Program, inputs []*column.Column) []bool {
	if !g.shape.optional() {
		return nil
	}
	never := program.NullableInputs(func(input int) bool { return op.Nullable(inputs[input]) })
	for i := range never {
		never[i] = !never[i]
	}
	return never
}
