package expr

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// mostRepeats is the largest number of [Expr.Repeat]. repeatBase is the number of parts of one Join
// of a repetition.
const mostRepeats, repeatBase = 1 << 16, 16

// repeat is a string a number of times. The digits of the number, with the base repeatBase, are
// added from the first one on: a Join has as many parts as the base and a digit, not as the number.
func (b *binder) repeat(x *exprtree.Node, times int) (*exprtree.Node, error) {
	if times < 0 || times > mostRepeats {
		return nil, fmt.Errorf("%d times, the number has to be in 0 to %d: %w", times, mostRepeats, ErrLiteral)
	}
	var digits []int
	for rest := times; rest > 0; rest /= repeatBase {
		digits = append(digits, rest%repeatBase)
	}
	t := plainText(x.Type)
	result := b.node(exprtree.Join, t, b.byteRange(x, position(0), position(0))) // null where x is
	for i, digit := range slices.Backward(digits) {
		parts := slices.Repeat([]*exprtree.Node{x}, digit)
		if i < len(digits)-1 {
			parts = append(slices.Repeat([]*exprtree.Node{result}, repeatBase), parts...)
		}
		result = b.node(exprtree.Join, t, parts...)
	}
	return result, nil
}
