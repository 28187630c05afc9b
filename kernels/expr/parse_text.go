package expr

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/text/textparse"
	"github.com/gpuframe/gpuframe/kernels"
)

// parseText is the cast of strings to floats and timestamps. It is a step of its own, because
// its kernel has a table of powers.
type parseText struct{ to arrow.DataType }

func (p parseText) Name() string { return fmt.Sprintf("cast to %v", p.to) }

func (p parseText) Result([]arrow.DataType) (arrow.DataType, error) { return p.to, nil }

func (p parseText) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return textparse.Parse(ctx, operands[0], p.to, options)
}

// mayParse reports whether a part of an expression may be a cast of strings that is a step.
func mayParse(n *node) bool {
	return n.op == exprtree.Cast && n.to != nil && textparse.Reads(n.to) && len(n.arguments) == 1
}

// parses returns the step for a cast of strings, or false for other casts. Strings of
// dictionaries become plain ones first.
func (a *apart) parses(part, root Expr) (Expr, bool) {
	if a.err != nil || !mayParse(part.node) {
		return Expr{}, false
	}
	operand := part.Operands()[0]
	replaced := a.replace(operand, root)
	if a.err != nil {
		return Expr{}, false
	}
	t, _, err := typeOf(a.schema, replaced)
	if err != nil || exprtree.KindOf(t) != exprtree.String {
		return Expr{}, false // binding reports the error
	}
	if !textparse.IsText(t) {
		operand = Concat(operand)
	}
	return Apply(parseText{part.node.to}, operand), true
}
