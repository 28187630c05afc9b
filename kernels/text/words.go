package text

import (
	"context"
	"strings"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var wordsFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
	return &hostFunction{name: "words", result: listsOfText, rows: func(_ context.Context, _ hosted, operands []arrow.Array) (appendRow, error) {
		text := stringsOf(operands[0])
		return func(row int, to array.Builder) {
			list := beginList(to)
			for word := range strings.FieldsFuncSeq(text(row), isBetweenWords) {
				appendText(list, word)
			}
		}, nil
	}}
}}

// Words is the list of the words of a string: the longest runs of letters, their marks and digits. Binaries
// are refused. The host computes it.
func Words(e expr.Expr) expr.Expr { return onHost(hosted{function: wordsFunction.Get()}, e) }

func isBetweenWords(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}
