package expr

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// infix are the operations that are written between their operands.
var infix = map[exprtree.Op]string{
	exprtree.Add: "+", exprtree.Subtract: "-", exprtree.Multiply: "*", exprtree.Divide: "/", exprtree.Remainder: "%",
	exprtree.BitAnd: "&", exprtree.BitOr: "|", exprtree.BitXor: "^", exprtree.ShiftLeft: "<<", exprtree.ShiftRight: ">>",
	exprtree.Equal: "==", exprtree.NotEqual: "!=", exprtree.Less: "<", exprtree.LessEqual: "<=", exprtree.Greater: ">", exprtree.GreaterEqual: ">=",
	exprtree.And: "and", exprtree.Or: "or", exprtree.Xor: "xor", exprtree.AndStrict: "and_strict", exprtree.OrStrict: "or_strict",
}

// String returns the expression as text, for messages: (delay > 15) and (carrier ==
// "AA"). Names of columns that are not words are in backquotes.
// Long texts are cut off.
func (e Expr) String() string {
	var t textWriter
	t.write(e.node, false)
	return t.text.String()
}

// longest is the length at which texts are cut off. An expression that shares parts may be
// small and have a text of exponential length.
const longest = 2000

type textWriter struct {
	text strings.Builder
	cut  bool
}

func (t *textWriter) add(text string) {
	if !t.cut {
		t.text.WriteString(text)
		if t.cut = t.text.Len() > longest; t.cut {
			t.text.WriteString("…")
		}
	}
}

func (t *textWriter) write(n *node, nested bool) {
	if t.cut {
		return
	}
	if n == nil {
		t.add("<none>")
		return
	}
	if sign, ok := infix[n.op]; ok {
		if nested {
			t.add("(")
		}
		t.write(n.arguments[0], true)
		t.add(" " + sign + " ")
		t.write(n.arguments[1], true)
		if nested {
			t.add(")")
		}
		return
	}
	switch n.op {
	case exprtree.Column:
		t.add(quotedName(n.text))
	case ofRows:
		t.add(quotedName(n.rowsText()))
	case exprtree.Literal:
		t.add(n.literalText())
	case alias:
		t.write(n.arguments[0], nested)
	default:
		t.add(n.name())
		t.add("(")
		for i, argument := range n.arguments {
			if i > 0 {
				t.add(", ")
			}
			t.write(argument, false)
		}
		if n.op == exprtree.Cast || n.op == exprtree.CastWrap {
			t.add(fmt.Sprintf(" as %v", n.to))
		}
		t.add(")")
	}
}

// name returns the operation as a function.
func (n *node) name() string {
	switch n.op {
	case alias:
		return "as"
	case fillNull:
		return "fill_null"
	case clamp:
		return "clamp"
	case trueDivide:
		return "true_div"
	case floorDivide:
		return "floor_div"
	case floorRemainder:
		return "floor_mod"
	case roundDigits:
		return "round_digits"
	case exceeds:
		return "exceeds"
	case contains:
		return "contains"
	case find:
		return "find"
	case like:
		return "like"
	case substring, substringAt:
		return "substring"
	case trim:
		return "trim"
	case trimStart:
		return "trim_start"
	case trimEnd:
		return "trim_end"
	case oneOf:
		return "in"
	case splitPart:
		return "split_part"
	case padStart:
		return "pad_start"
	case padEnd:
		return "pad_end"
	case capitalize:
		return "capitalize"
	case repeat:
		return "repeat"
	case count:
		return "count"
	case trimPrefix:
		return "trim_prefix"
	case trimSuffix:
		return "trim_suffix"
	case addDays:
		return "add_days"
	case addMonths:
		return "add_months"
	case addYears:
		return "add_years"
	case truncate:
		return "truncate_time"
	case daysSince:
		return "days_since"
	case apply:
		return n.operatorName()
	case ofRows:
		return "of_rows"
	}
	return n.op.String()
}

func quotedName(name string) string {
	for _, r := range name {
		if r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') {
			return "`" + name + "`"
		}
	}
	if name == "" {
		return "``"
	}
	return name
}

func (n *node) literalText() string {
	var text string
	switch value := n.value.(type) {
	case nil:
		if n.to == nil {
			return "null"
		}
		return fmt.Sprintf("null of %v", n.to)
	case string:
		text = fmt.Sprintf("%q", value)
	case []byte:
		text = fmt.Sprintf("x%q", value)
	case time.Time:
		text = value.UTC().Format(time.RFC3339Nano)
	default:
		text = fmt.Sprint(value)
	}
	if n.to != nil {
		text += fmt.Sprintf(" of %v", n.to)
	}
	return text
}
