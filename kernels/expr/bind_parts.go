package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// The functions of this file are composed of searches, parts and joins.

// splitPart is the bytes between two separators.
func (b *binder) splitPart(x, separator *exprtree.Node, number int) (*exprtree.Node, error) {
	const most = 100
	width := len(separator.Value.(string))
	switch {
	case width == 0:
		return nil, fmt.Errorf("the separator is empty: %w", ErrLiteral)
	case number < 1 || number > most:
		return nil, fmt.Errorf("the part has number %d, it has to be in 1 to %d: %w", number, most, ErrLiteral)
	}
	begin := position(0)
	for range number - 1 {
		begin = b.seek(x, separator, begin)
	}
	behind := b.seek(x, separator, begin)
	last := b.node(exprtree.Less, boolean, behind, position(0))
	end := b.node(exprtree.IfElse, int64Type, last, textEnd(), b.node(exprtree.Subtract, int64Type, behind, position(width)))
	part := b.byteRange(x, begin, end)
	if number == 1 {
		return part, nil
	}
	none := &exprtree.Node{Op: exprtree.Literal, Type: int64Type, Slot: -1}
	start := b.node(exprtree.IfElse, int64Type, b.node(exprtree.Less, boolean, begin, position(0)), none, begin)
	return b.byteRange(x, start, end), nil
}

// count compares the length with that of the string without the literal.
func (b *binder) count(x, wanted *exprtree.Node) (*exprtree.Node, error) {
	width := len(wanted.Value.(string))
	if width == 0 {
		return nil, fmt.Errorf("it counts an empty string: %w", ErrLiteral)
	}
	rest := b.node(exprtree.Replace, plainText(x.Type), x, wanted, binaryLiteral(""))
	less := b.node(exprtree.Subtract, int64Type, b.node(exprtree.LengthBytes, int64Type, x), b.node(exprtree.LengthBytes, int64Type, rest))
	return b.node(exprtree.Divide, int64Type, less, position(width)), nil
}

// trimLiteral chooses the position at which the rest begins or ends.
func (b *binder) trimLiteral(op exprtree.Op, x, literal *exprtree.Node) *exprtree.Node {
	width := position(len(literal.Value.(string)))
	if op == trimPrefix {
		has := b.node(exprtree.StartsWith, boolean, x, literal)
		return b.byteRange(x, b.node(exprtree.IfElse, int64Type, has, width, position(0)), textEnd())
	}
	has, length := b.node(exprtree.EndsWith, boolean, x, literal), b.node(exprtree.LengthBytes, int64Type, x)
	return b.byteRange(x, position(0), b.node(exprtree.IfElse, int64Type, has, b.node(exprtree.Subtract, int64Type, length, width), length))
}

func (b *binder) capitalize(x *exprtree.Node) *exprtree.Node {
	t, second := plainText(x.Type), b.node(exprtree.CharOffset, int64Type, x, position(1))
	first := b.node(exprtree.Upper, t, b.byteRange(x, position(0), second))
	return b.node(exprtree.Join, t, first, b.node(exprtree.Lower, t, b.byteRange(x, second, textEnd())))
}

// pad joins the string with the beginning of a literal of as many characters as it may
// take.
func (b *binder) pad(op exprtree.Op, x *exprtree.Node, characters int, with string) (*exprtree.Node, error) {
	if most := 1024 / len(with); characters < 0 || characters > most {
		return nil, fmt.Errorf("%d characters of %d bytes, the number has to be in 0 to %d: %w", characters, len(with), most, ErrLiteral)
	}
	if !utf8.ValidString(with) {
		return nil, fmt.Errorf("%q is no character: %w", with, ErrLiteral)
	}
	t := plainText(x.Type)
	padding := &exprtree.Node{Op: exprtree.Literal, Type: t, Value: strings.Repeat(with, characters)}
	missing := b.node(exprtree.Subtract, int64Type, position(characters), b.node(exprtree.LengthChars, int64Type, x))
	bytes := b.node(exprtree.Multiply, int64Type, missing, position(len(with)))
	part := b.node(exprtree.ByteRange, t, padding, position(0), bytes)
	if op == padStart {
		return b.node(exprtree.Join, t, part, x), nil
	}
	return b.node(exprtree.Join, t, x, part), nil
}

// format binds casts of integers and bools to strings. It reports false for others.
func (b *binder) format(n *node, x *exprtree.Node) (*exprtree.Node, bool) {
	if id := n.to.ID(); n.op != exprtree.Cast || id != arrow.STRING && id != arrow.LARGE_STRING || x.Op == exprtree.Literal {
		return nil, false
	}
	switch {
	case x.Kind() == exprtree.Bool:
		literal := func(text string) *exprtree.Node {
			return &exprtree.Node{Op: exprtree.Literal, Type: n.to, Value: text}
		}
		return b.node(exprtree.IfElse, n.to, x, literal("true"), literal("false")), true
	case !isCount(x.Type):
		return nil, false
	case x.Kind() != exprtree.Uint64:
		x = b.cast(x, int64Type)
	}
	return b.node(exprtree.Format, n.to, x), true
}

// parse binds casts of strings to integers, bools and dates. It reports false for others.
func (b *binder) parse(n *node, x *exprtree.Node) (*exprtree.Node, bool) {
	kind := exprtree.KindOf(n.to)
	switch {
	case x.Kind() != exprtree.String || x.Op == exprtree.Literal || n.op != exprtree.Cast:
		return nil, false
	case n.to.ID() == arrow.DATE32:
		return b.node(exprtree.ParseDate, n.to, x), true
	case exprtree.IsTemporal(n.to):
		return nil, false
	case kind == exprtree.Bool:
		equals := func(text string) *exprtree.Node { return b.node(exprtree.Equal, boolean, x, binaryLiteral(text)) }
		null := &exprtree.Node{Op: exprtree.Literal, Type: boolean, Slot: -1}
		yes := &exprtree.Node{Op: exprtree.Literal, Type: boolean, Value: true}
		no := &exprtree.Node{Op: exprtree.Literal, Type: boolean, Value: false}
		return b.node(exprtree.IfElse, boolean, equals("true"), yes, b.node(exprtree.IfElse, boolean, equals("false"), no, null)), true
	case kind == exprtree.Uint64:
		return b.node(exprtree.ParseInteger, n.to, x), true
	case kind.IsInteger():
		return b.cast(b.node(exprtree.ParseInteger, int64Type, x), n.to), true
	}
	return nil, false
}
