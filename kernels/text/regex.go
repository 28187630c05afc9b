package text

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/regex"
	"github.com/gpuframe/gpuframe/internal/text/textrows"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// PatternError is a pattern that does not compile.
type PatternError = regex.Error

// ErrPatternTooLarge is wrapped by a [PatternError] if the automaton of the pattern
// exceeds a limit.
var ErrPatternTooLarge = regex.ErrTooLarge

// Matches reports whether a string has a match of a pattern.
func Matches(e expr.Expr, pattern string) expr.Expr {
	return expr.Apply(search{kind: matches, pattern: pattern}, e)
}

// Find is the number of the character at which the first match of a pattern begins, from 1,
// or 0 without a match, as int64. [Extract] of group 0 is the match.
func Find(e expr.Expr, pattern string) expr.Expr {
	return expr.Apply(search{kind: find, pattern: pattern}, e)
}

// Count is the number of matches of a pattern that do not overlap, as int64: those of
// regexp's FindAll.
func Count(e expr.Expr, pattern string) expr.Expr {
	return expr.Apply(search{kind: count, pattern: pattern}, e)
}

// Extract is the text of a group of the first match of a pattern. Group 0 is the match. It
// is null without a match, and if the group takes no part in it.
func Extract(e expr.Expr, pattern string, group int) expr.Expr {
	return expr.Apply(search{kind: extract, pattern: pattern, group: group}, e)
}

// Replace is a string with the matches of a pattern replaced, as regexp's ReplaceAllString:
// in the replacement $1 or ${1} is the text of a group, ${name} that of a named group, $$ a
// dollar sign.
func Replace(e expr.Expr, pattern, with string) expr.Expr {
	return expr.Apply(search{kind: replace, pattern: pattern, with: with}, e)
}

// searchKind is the result of a search. The first three numbers are those of regex.cu.
type searchKind uint32

const (
	find searchKind = iota
	count
	extract
	matches
	replace
)

type search struct {
	kind    searchKind
	pattern string
	group   int
	with    string
	// leastDistinct, unless it is 0, is the fewest rows that are looked at for equal texts.
	leastDistinct int
}

// Name implements expr.Operator.
func (s search) Name() string {
	name := [...]string{find: "find_regex", count: "count_regex", extract: "extract_regex", matches: "matches_regex", replace: "replace_regex"}[s.kind]
	switch s.kind {
	case extract:
		return fmt.Sprintf("%s[%q, %d]", name, s.pattern, s.group)
	case replace:
		return fmt.Sprintf("%s[%q, %q]", name, s.pattern, s.with)
	}
	return fmt.Sprintf("%s[%q]", name, s.pattern)
}

// Result implements expr.Operator.
func (s search) Result(operands []arrow.DataType) (arrow.DataType, error) {
	t, err := plain(operands[0])
	if err == nil {
		err = s.check()
	}
	switch s.kind {
	case matches:
		t = arrow.FixedWidthTypes.Boolean
	case find, count:
		t = arrow.PrimitiveTypes.Int64
	}
	return t, err
}

// Prepare implements expr.Preparer: it compiles the pattern.
func (s search) Prepare(ctx context.Context) error {
	_, err := tablesOf(ctx, s)
	return err
}

// Run implements expr.Operator. The values of a dictionary are searched once each, and so are texts that repeat.
func (s search) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	c := operands[0]
	if c.Dictionary() == nil {
		if searched, err := s.distinct(ctx, c, options); err != nil || searched != nil {
			return searched, err
		}
	}
	return perValue(ctx, c, options, s.column)
}

// perValue runs an operator of strings on the values of a dictionary, or on a column.
func perValue(ctx context.Context, c *column.Column, options kernels.Options,
	run func(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error),
) (*column.Column, error) {
	if c.Dictionary() == nil {
		return run(ctx, c, options)
	}
	values, err := run(ctx, c.Dictionary(), options)
	if err != nil {
		return nil, err
	}
	indices, err := c.Indices()
	if err != nil {
		return nil, errors.Join(err, values.Release())
	}
	taken, err := selection.TakeColumnWith(ctx, values, indices, selection.TakeOptions{Options: options, Bounds: selection.Null})
	return release.OnError(taken, err, indices.Release(), values.Release())
}

func (s search) column(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error) {
	t, err := tablesOf(ctx, s)
	if err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	in, err := textsOf(&call, c)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Len() == 0:
		return s.none(&call, c)
	case call.OnHost():
		return s.onHost(&call, in, t)
	}
	block, on, err := t.upload(&call)
	if err != nil {
		return nil, err
	}
	matched, err := s.onDevice(&call, in, on)
	return release.OnError(matched, err, block.Release())
}

func (s search) onDevice(call *op.Call, in texts, on *loaded) (*column.Column, error) {
	switch s.kind {
	case matches:
		return call.NewColumn(s.fixed(in, arrow.FixedWidthTypes.Boolean), func(out op.Buffers) error {
			return on.matches(call, in, out)
		})
	case find, count:
		return call.NewColumn(s.fixed(in, arrow.PrimitiveTypes.Int64), func(out op.Buffers) error {
			return on.search(call, in, s.kind, out.Values, memory.Slice[uint8]{}, out.Valid)
		})
	case extract:
		return s.extract(call, in, on)
	}
	m, err := newMaker(in.nulls, in.column.Type())
	if err != nil {
		return nil, err
	}
	none, noEnds := memory.Slice[uint8]{}, memory.Slice[int64]{}
	return m.onDevice(call, func(lengths memory.Slice[uint8]) error {
		return on.replace(call, in, none, lengths, noEnds)
	}, func(to memory.Slice[uint8], ends memory.Slice[int64]) error {
		return on.replace(call, in, to, none, ends)
	})
}

// none is the result without rows.
func (s search) none(call *op.Call, c *column.Column) (*column.Column, error) {
	t, err := s.Result([]arrow.DataType{c.Type()})
	if err != nil {
		return nil, err
	}
	return empty(call, c, t)
}

func (search) fixed(in texts, t arrow.DataType) op.Result {
	return op.Result{Type: t, Length: in.column.Len(), RowCount: in.column.RowCount(), Nullable: in.nullable()}
}

// extract copies the groups that a kernel finds.
func (s search) extract(call *op.Call, in texts, on *loaded) (*column.Column, error) {
	rows := in.column.Len()
	block, scratch, err := call.Scratch(8*uint64(rows), 8*uint64(rows), op.BitmapBytes(rows))
	if err != nil {
		return nil, err
	}
	var extracted *column.Column
	if err = on.search(call, in, extract, scratch[0], scratch[1], scratch[2]); err == nil {
		extracted, err = textrows.Make(*call, textrows.Rows{
			Type: in.column.Type(), Capacity: rows, Count: in.counted, Valid: scratch[2], Sources: []memory.Slice[uint8]{in.data},
			Parts: []textrows.Part{{Places: scratch[0], Lengths: scratch[1]}},
		})
	}
	if err = errors.Join(err, block.Release()); err != nil || in.column.RowCount() == nil {
		return release.OnError(extracted, err)
	}
	counted, err := extracted.WithRows(in.column.RowCount())
	return release.OnError(counted, err, extracted.Release())
}

// onHost runs the search on the host.
func (s search) onHost(call *op.Call, in texts, t *tables) (*column.Column, error) {
	read, err := in.reader()
	if err != nil {
		return nil, err
	}
	searchers := make([]*regex.Searcher, in.parts())
	for i := range searchers {
		searchers[i] = t.program.NewSearcher()
	}
	switch s.kind {
	case matches:
		return call.NewColumn(s.fixed(in, arrow.FixedWidthTypes.Boolean), func(out op.Buffers) error {
			return each(call, in, out, func(to op.HostBuffers, _, row int) {
				if t.program.Matches(read(row)) {
					to.SetTrue(row)
				}
			})
		})
	case find, count:
		return call.NewColumn(s.fixed(in, arrow.PrimitiveTypes.Int64), func(out op.Buffers) error {
			return each(call, in, out, func(to op.HostBuffers, part, row int) {
				op.Elements[int64](to.Values)[row] = s.number(searchers[part], read(row))
			})
		})
	}
	m, err := newMaker(in.nulls, in.column.Type())
	if err != nil {
		return nil, err
	}
	m.nulled = s.kind == extract
	return m.onHost(call, func(to []byte, part, row int) ([]byte, bool) {
		text, searcher := read(row), searchers[part]
		if s.kind == replace {
			return searcher.Replace(to, text, t.parts), true
		}
		if !searcher.Search(text, 0) || searcher.Match[t.place] == regex.None {
			return to, false
		}
		return append(to, text[searcher.Match[t.place]:searcher.Match[t.place+1]]...), true
	})
}

// each calls visit for the rows that are not null. The values of the others are 0.
func each(call *op.Call, in texts, out op.Buffers, visit func(to op.HostBuffers, part, row int)) error {
	to, err := out.Host()
	if err != nil {
		return err
	}
	clear(to.Values)
	return in.each(call, func(part, row int) {
		to.SetValid(row)
		visit(to, part, row)
	})
}

// number is the result of find or count.
func (s search) number(searcher *regex.Searcher, text []byte) int64 {
	n := int64(0)
	if s.kind == count {
		searcher.Each(text, func([]uint32) { n++ })
		return n
	}
	if !searcher.Search(text, 0) {
		return 0
	}
	for _, c := range text[:searcher.Match[0]] {
		if c&0xc0 != 0x80 {
			n++
		}
	}
	return n + 1
}
