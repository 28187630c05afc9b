package text

import (
	"context"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	containsFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction { return conditionFunction("contains", strings.Contains) }}
	prefixFunction   = lazy.Value[*hostFunction]{Make: func() *hostFunction { return conditionFunction("has_prefix", strings.HasPrefix) }}
	suffixFunction   = lazy.Value[*hostFunction]{Make: func() *hostFunction { return conditionFunction("has_suffix", strings.HasSuffix) }}
	findFunction     = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return &hostFunction{name: "find", result: ofStrings(arrow.PrimitiveTypes.Int64), rows: func(_ context.Context, _ hosted, operands []arrow.Array) (appendRow, error) {
			text, wanted := stringsOf(operands[0]), stringsOf(operands[1])
			return func(row int, to array.Builder) {
				to.(*array.Int64Builder).Append(place(text(row), wanted(row)))
			}, nil
		}}
	}}
)

// Contains reports whether a string contains another one. The host computes it unless that is a literal.
func Contains(e, x expr.Expr) expr.Expr {
	return withText(containsFunction.Get(), expr.Expr.Contains, e, x)
}

// HasPrefix reports whether a string begins with another one. The host computes it unless that is a literal.
func HasPrefix(e, x expr.Expr) expr.Expr {
	return withText(prefixFunction.Get(), expr.Expr.HasPrefix, e, x)
}

// HasSuffix reports whether a string ends with another one. The host computes it unless that is a literal.
func HasSuffix(e, x expr.Expr) expr.Expr {
	return withText(suffixFunction.Get(), expr.Expr.HasSuffix, e, x)
}

// FindText is [expr.Expr.Find] of a string in another one. The host computes it unless the string is a literal.
func FindText(e, x expr.Expr) expr.Expr { return withText(findFunction.Get(), expr.Expr.Find, e, x) }

// withText is a function of a literal, or of another string that the host reads.
func withText(f *hostFunction, ofLiteral func(e, x expr.Expr) expr.Expr, e, x expr.Expr) expr.Expr {
	if x.Operation() == "literal" {
		return ofLiteral(e, x)
	}
	return onHost(hosted{function: f}, e, x)
}

func conditionFunction(name string, f func(text, x string) bool) *hostFunction {
	return &hostFunction{name: name, result: ofStrings(arrow.FixedWidthTypes.Boolean), rows: func(_ context.Context, _ hosted, operands []arrow.Array) (appendRow, error) {
		text, x := stringsOf(operands[0]), stringsOf(operands[1])
		return func(row int, to array.Builder) { to.(*array.BooleanBuilder).Append(f(text(row), x(row))) }, nil
	}}
}

// place is the number of the character at which a string begins in another one, from 1, or 0.
func place(text, wanted string) int64 {
	at := strings.Index(text, wanted)
	if at < 0 {
		return 0
	}
	n := int64(1)
	for _, c := range []byte(text[:at]) {
		if c&0xc0 != 0x80 {
			n++
		}
	}
	return n
}
