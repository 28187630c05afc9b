package text

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	formatFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction { return patternFunction("format", bracePattern) }}
	printfFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction { return patternFunction("printf", percentPattern) }}
)

// Format is a text with values in place of {} and {:SPEC}, where SPEC is < or >, the flags -, +, space and 0, a width, a
// precision and one of the letters of [Printf]; {{ and }} are braces. Numbers are at the right of the width, and other
// values at the left, but < and > decide; the flag - changes nothing. The host computes it.
func Format(pattern string, values ...expr.Expr) expr.Expr {
	return patternOf(formatFunction.Get(), pattern, values)
}

// Printf is a text with values in place of verbs, as C has them: %d of integers, %x, %X, %o of integers, of which negative
// ones are two's complements of the width of their type, %f, %e, %g of numbers, %s of text, numbers and booleans, with the
// flags -, +, space and 0, a width and a precision; %% is a percent sign. Infinities are inf, and a float of %s is the
// shortest text that reads as it: 1e+06. The host computes it.
func Printf(pattern string, values ...expr.Expr) expr.Expr {
	return patternOf(printfFunction.Get(), pattern, values)
}

func patternOf(f *hostFunction, pattern string, values []expr.Expr) expr.Expr {
	if len(values) == 0 {
		return expr.Apply(hosted{function: f, text: pattern}, expr.Lit(true))
	}
	return expr.Apply(hosted{function: f, text: pattern}, values...)
}

// piece is a literal, or the place of a value as Go's fmt has it.
type piece struct {
	literal string
	// spec is the verb without its letter: "%05.2".
	spec string
	verb byte
	// textLeft puts a value that is no number at the left, as {} does.
	textLeft bool
}

// specForm is flags, a width, a precision and a letter.
var specForm = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^([-+ 0]*)([0-9]{0,3})((?:\.[0-9]{0,3})?)([dsfeExXog]?)`)
}}

// spec reads the description of a value at the beginning of a text.
func spec(text string, defaultVerb byte) (p piece, rest string, ok bool) {
	m := specForm.Get().FindStringSubmatch(text)
	p = piece{spec: "%" + m[1] + m[2] + m[3], verb: defaultVerb}
	if m[4] != "" {
		p.verb = m[4][0]
	}
	return p, text[len(m[0]):], p.verb != 0
}

func percentPattern(text string) (pieces []piece, err error) {
	for text != "" {
		literal, rest, hasVerb := strings.Cut(text, "%")
		pieces = append(pieces, piece{literal: literal})
		if text = rest; !hasVerb {
			break
		}
		if strings.HasPrefix(text, "%") {
			pieces, text = append(pieces, piece{literal: "%"}), text[1:]
			continue
		}
		p, rest, ok := spec(text, 0)
		if !ok {
			return nil, fmt.Errorf("%%%s begins with no verb, expected d, s, f, e, g, x, X or o, or %%%%: %w", text, expr.ErrLiteral)
		}
		pieces, text = append(pieces, p), rest
	}
	return pieces, nil
}

func bracePattern(text string) (pieces []piece, err error) {
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			return append(pieces, piece{literal: text}), nil
		}
		pieces = append(pieces, piece{literal: text[:at]})
		brace := text[at : at+1]
		if text = text[at+1:]; strings.HasPrefix(text, brace) {
			pieces, text = append(pieces, piece{literal: brace}), text[1:]
			continue
		}
		form := strings.TrimPrefix(text, ":")
		align := form[:len(form)-len(strings.TrimLeft(form, "<>"))]
		p, rest, ok := spec(form[len(align):], 's')
		if brace == "}" || !ok || len(align) > 1 || !strings.HasPrefix(rest, "}") || p.spec+align != "%" && text[0] != ':' {
			return nil, fmt.Errorf("%q has a brace without its form, expected {}, {:.2f}, {{ or }}: %w", text, expr.ErrLiteral)
		}
		if p.spec = strings.ReplaceAll(p.spec, "-", ""); align == "<" {
			p.spec = "%-" + p.spec[1:]
		}
		p.textLeft = align == ""
		pieces, text = append(pieces, p), rest[1:]
	}
	return pieces, nil
}

func patternFunction(name string, parse func(pattern string) ([]piece, error)) *hostFunction {
	return &hostFunction{
		name: name,
		result: func(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
			pieces, err := parse(h.text)
			if err != nil {
				return nil, err
			}
			return arrow.BinaryTypes.String, checkPieces(pieces, operands)
		},
		rows: func(_ context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
			pieces, err := parse(h.text)
			if err != nil {
				return nil, err
			}
			var parts []func(to []byte, row int) []byte
			for _, p := range pieces {
				if p.verb == 0 {
					parts = append(parts, func(to []byte, _ int) []byte { return append(to, p.literal...) })
					continue
				}
				parts = append(parts, p.value(operands[0]))
				operands = operands[1:]
			}
			var text []byte
			return func(row int, to array.Builder) {
				text = text[:0]
				for _, part := range parts {
					text = part(text, row)
				}
				to.(*array.StringBuilder).Append(string(text))
			}, nil
		},
	}
}

// checkPieces compares the places of a pattern with the types of values.
func checkPieces(pieces []piece, operands []arrow.DataType) error {
	places := 0
	for _, p := range pieces {
		if p.verb == 0 {
			continue
		}
		if places++; places > len(operands) {
			continue
		}
		t := layout.Storage(operands[places-1])
		text, notText := plain(t)
		isWhole := arrow.IsInteger(t.ID())
		isNumber := isWhole || arrow.IsFloating(t.ID()) && t.ID() != arrow.FLOAT16 || t.ID() == arrow.DECIMAL128
		switch p.verb {
		case 's':
			if isText := notText == nil && !isBinary(text); !isText && !isNumber && t.ID() != arrow.BOOL {
				return fmt.Errorf("value %d is %v, expected text, number or boolean: cast it to utf8: %w", places, t, expr.ErrType)
			}
		case 'f', 'e', 'E', 'g':
			if !isNumber {
				return fmt.Errorf("value %d is %v, expected a number for %%%c: %w", places, t, p.verb, expr.ErrType)
			}
		default:
			if !isWhole {
				return fmt.Errorf("value %d is %v, expected an integer for %%%c: %w", places, t, p.verb, expr.ErrType)
			}
		}
	}
	if none := places == 0 && len(operands) == 1 && operands[0].ID() == arrow.BOOL; places != len(operands) && !none {
		return fmt.Errorf("the pattern has %d places for %d values: %w", places, len(operands), expr.ErrLiteral)
	}
	return nil
}
