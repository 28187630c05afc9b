package text

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// hosted is a function that the host computes for every device: the operands are copied to the host and
// the result back.
type hosted struct {
	function *hostFunction
	// text, with and number are the literals of the function.
	text, with string
	number     int
}

// hostFunction is a function of rows that the host computes.
type hostFunction struct {
	name string
	// result is the type of the values. It reports literals that the function does not take.
	result func(h hosted, operands []arrow.DataType) (arrow.DataType, error)
	// rows returns the function of one goroutine that appends the value of a row. Rows with a null operand are null.
	rows func(ctx context.Context, h hosted, operands []arrow.Array) (appendRow, error)
}

// appendRow appends the value of a row to a column.
type appendRow = hostrows.Append

// Name implements expr.Operator.
func (h hosted) Name() string {
	switch {
	case h.with != "":
		return fmt.Sprintf("%s[%q, %q]", h.function.name, h.text, h.with)
	case h.text != "" && h.number != 0:
		return fmt.Sprintf("%s[%q, %d]", h.function.name, h.text, h.number)
	case h.text != "":
		return fmt.Sprintf("%s[%q]", h.function.name, h.text)
	}
	return h.function.name
}

// Result implements expr.Operator.
func (h hosted) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return h.function.result(h, operands)
}

// Run implements expr.Operator.
func (h hosted) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	types := make([]arrow.DataType, len(operands))
	for i, c := range operands {
		if types[i] = c.Type(); c.Len() != operands[0].Len() {
			return nil, fmt.Errorf("columns of %d and %d rows: %w", operands[0].Len(), c.Len(), expr.ErrType)
		}
	}
	result, err := h.Result(types)
	if err != nil {
		return nil, err
	}
	return hostrows.Run(ctx, operands, result, options, func(ctx context.Context, operands []arrow.Array) (hostrows.Append, error) {
		return h.function.rows(ctx, h, operands)
	})
}

// stringsOf returns a function that returns the string of a row.
func stringsOf(a arrow.Array) func(row int) string {
	switch a := a.(type) {
	case array.ExtensionArray:
		return stringsOf(a.Storage())
	case *array.Dictionary:
		text := stringsOf(a.Dictionary())
		return func(row int) string { return text(a.GetValueIndex(row)) }
	case interface{ Value(row int) string }: // utf8, large_utf8
		return a.Value
	case interface{ Value(row int) []byte }:
		return func(row int) string { return string(a.Value(row)) }
	}
	return func(int) string { return "" }
}

// appendText appends a string to a column of strings or binaries.
func appendText(to array.Builder, text string) {
	switch to := to.(type) {
	case interface{ Append(text string) }:
		to.Append(text)
	case *array.BinaryBuilder:
		to.AppendString(text)
	}
}

// ofStrings is the type of results of operands that are all strings.
func ofStrings(t arrow.DataType) func(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
	return func(_ hosted, operands []arrow.DataType) (arrow.DataType, error) {
		_, err := areStrings(operands)
		return t, err
	}
}

// newText is utf8 that a function makes, or large_utf8 if an operand has large offsets.
func newText(_ hosted, operands []arrow.DataType) (arrow.DataType, error) {
	large, err := areStrings(operands)
	if large {
		return arrow.BinaryTypes.LargeString, err
	}
	return arrow.BinaryTypes.String, err
}

// sameText is the type of operands of characters: binaries, which need not be UTF-8, are refused.
func sameText(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
	for _, o := range operands {
		if t, err := plain(o); err == nil && isBinary(t) {
			return nil, fmt.Errorf("%v, expected text: cast it to utf8: %w", o, expr.ErrType)
		}
	}
	return newText(h, operands)
}

// sameBytes is [newText], or a binary with the same offsets if an operand is one.
func sameBytes(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
	result, err := newText(h, operands)
	for _, o := range operands {
		if t, _ := plain(o); t == nil || !isBinary(t) {
			continue
		}
		if result.ID() == arrow.LARGE_STRING {
			return arrow.BinaryTypes.LargeBinary, err
		}
		return arrow.BinaryTypes.Binary, err
	}
	return result, err
}

func isBinary(t arrow.DataType) bool { return t.ID() == arrow.BINARY || t.ID() == arrow.LARGE_BINARY }

// areStrings refuses operands that are no strings, and reports whether one has large offsets.
func areStrings(operands []arrow.DataType) (large bool, err error) {
	for _, o := range operands {
		t, err := plain(o)
		if err != nil {
			return false, err
		}
		large = large || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.LARGE_BINARY
	}
	return large, nil
}

// onHost applies a function of strings, of which dictionaries become plain strings.
func onHost(h hosted, operands ...expr.Expr) expr.Expr {
	for i, e := range operands {
		operands[i] = expr.Concat(e)
	}
	return expr.Apply(h, operands...)
}

// textFunction is a function of one string to another one, of the type that result returns.
func textFunction(name string, result func(h hosted, operands []arrow.DataType) (arrow.DataType, error), f func(h hosted) func(text string) string) *hostFunction {
	return &hostFunction{name: name, result: result, rows: func(_ context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
		text, change := stringsOf(operands[0]), f(h)
		return func(row int, to array.Builder) { appendText(to, change(text(row))) }, nil
	}}
}
