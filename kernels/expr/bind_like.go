package expr

import (
	"fmt"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// pattern is a pattern of Like: the texts between runs of %. single means that one of
// them has a _; units is then the pattern as exprtree.Like takes it.
type pattern struct {
	parts  []string
	single bool
	units  []byte
}

func parsePattern(text string, escape rune) (p pattern, err error) {
	if !utf8.ValidString(text) {
		return p, fmt.Errorf("the pattern %q is not valid UTF-8: %w", text, ErrLiteral)
	}
	p.parts = []string{""}
	escaped := false
	for _, character := range text {
		last := len(p.parts) - 1
		switch {
		case !escaped && character == escape:
			escaped = true
			continue
		case !escaped && character == '%':
			p.parts = append(p.parts, "")
			p.add(exprtree.LikeMany)
		case !escaped && character == '_':
			p.single = true
			p.add(exprtree.LikeOne)
		default:
			p.parts[last] += string(character)
			for _, b := range []byte(string(character)) {
				p.add(uint16(b))
			}
		}
		escaped = false
	}
	if escaped {
		return p, fmt.Errorf("the pattern %q ends with its escape character %q: %w", text, escape, ErrLiteral)
	}
	return p, nil
}

func (p *pattern) add(unit uint16) { p.units = append(p.units, byte(unit), byte(unit>>8)) }

// like binds a pattern: most are comparisons, or sequences of searches.
func (b *binder) like(x *exprtree.Node, text string, options []operand) (*exprtree.Node, error) {
	escape := rune(-1)
	if len(options) > 1 {
		return nil, fmt.Errorf("%d escape characters, it takes one: %w", len(options), ErrLiteral)
	}
	for _, option := range options {
		escape, _ = utf8.DecodeRuneInString(option.node.Value.(string))
	}
	p, err := parsePattern(text, escape)
	if err != nil {
		return nil, err
	}
	last := len(p.parts) - 1
	prefix, suffix := p.parts[0], p.parts[last]
	switch {
	case p.single:
		return b.node(exprtree.Like, boolean, x, binaryLiteral(string(p.units))), nil
	case last == 0:
		return b.node(exprtree.Equal, boolean, x, binaryLiteral(prefix)), nil
	}
	var conditions []*exprtree.Node
	if prefix != "" {
		conditions = append(conditions, b.node(exprtree.StartsWith, boolean, x, binaryLiteral(prefix)))
	}
	behind := position(len(prefix))
	for _, part := range p.parts[1:last] {
		if part != "" {
			behind = b.seek(x, binaryLiteral(part), behind)
		}
	}
	if behind.Op == exprtree.Seek {
		conditions = append(conditions, b.node(exprtree.GreaterEqual, boolean, behind, position(0)))
	}
	if suffix != "" {
		conditions = append(conditions, b.node(exprtree.EndsWith, boolean, x, binaryLiteral(suffix)))
	}
	if suffix != "" && len(conditions) > 1 {
		room := b.node(exprtree.Subtract, int64Type, b.node(exprtree.LengthBytes, int64Type, x), position(len(suffix)))
		conditions = append(conditions, b.node(exprtree.GreaterEqual, boolean, room, behind))
	}
	if len(conditions) == 0 { // % alone
		return b.node(exprtree.GreaterEqual, boolean, b.node(exprtree.LengthBytes, int64Type, x), position(0)), nil
	}
	matches := conditions[0]
	for _, condition := range conditions[1:] {
		matches = b.node(exprtree.AndStrict, boolean, matches, condition)
	}
	return matches, nil
}
