package text

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/internal/text/regex"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	extractAllFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return &hostFunction{name: "extract_all_regex", result: ofPattern, rows: func(ctx context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
			t, err := tablesOf(ctx, search{kind: extract, pattern: h.text, group: h.number})
			if err != nil {
				return nil, err
			}
			text, searcher := stringsOf(operands[0]), t.program.NewSearcher()
			return func(row int, to array.Builder) {
				list, in := beginList(to), []byte(text(row))
				searcher.Each(in, func(match []uint32) {
					if match[t.place] == regex.None {
						list.AppendNull()
					} else {
						appendText(list, string(in[match[t.place]:match[t.place+1]]))
					}
				})
			}, nil
		}}
	}}
	splitRegexFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return &hostFunction{name: "split_regex", result: ofPattern, rows: func(ctx context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
			t, err := tablesOf(ctx, search{kind: find, pattern: h.text})
			if err != nil {
				return nil, err
			}
			text, searcher := stringsOf(operands[0]), t.program.NewSearcher()
			return func(row int, to array.Builder) {
				list, in, begin := beginList(to), []byte(text(row)), uint32(0)
				searcher.Each(in, func(match []uint32) {
					if match[1] > 0 && !(match[0] == match[1] && match[1] == uint32(len(in))) { // no empty match at an end
						appendText(list, string(in[begin:match[0]]))
						begin = match[1]
					}
				})
				appendText(list, string(in[begin:]))
			}, nil
		}}
	}}
)

// ExtractAll is the list of the texts of a group of all matches of a pattern that do not overlap. Group 0 is the
// match. An element is null if the group takes no part in the match. Parts of
// binaries are binaries. The host computes it.
func ExtractAll(e expr.Expr, pattern string, group int) expr.Expr {
	return onHost(hosted{function: extractAllFunction.Get(), text: pattern, number: group}, e)
}

// SplitRegex is the list of the parts of a string between the matches of a pattern, as regexp.Split makes it, but
// an empty string is one empty part. Parts of binaries are binaries. The host computes it.
func SplitRegex(e expr.Expr, pattern string) expr.Expr {
	return onHost(hosted{function: splitRegexFunction.Get(), text: pattern}, e)
}

// ofPattern is the type of lists of parts that a pattern has.
func ofPattern(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
	if err := (search{kind: extract, pattern: h.text, group: h.number}).check(); err != nil {
		return nil, err
	}
	t, err := sameBytes(h, operands)
	if err != nil {
		return nil, err
	}
	return arrow.ListOf(t), nil
}

// listsOfText is the type of lists of strings.
func listsOfText(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
	t, err := sameText(h, operands)
	if err != nil {
		return nil, err
	}
	return arrow.ListOf(t), nil
}

// beginList begins the list of a row and returns where its elements go.
func beginList(to array.Builder) array.Builder {
	list := to.(*array.ListBuilder)
	list.Append(true)
	return list.ValueBuilder()
}
