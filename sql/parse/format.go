package parse

import (
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// Format returns the text of a statement, a query, a body, a table or an expression, with parentheses around
// each operand. The tree of the text is the node with other positions.
func Format(n tree.Node) string {
	f := &formatter{}
	switch n := n.(type) {
	case tree.Expr:
		f.expr(n)
	case tree.Statement:
		f.statement(n)
	case tree.Table:
		f.table(n)
	case tree.Body:
		f.body(n)
	}
	return f.text.String()
}

// formatter writes the text of a tree.
type formatter struct{ text strings.Builder }

// write appends texts.
func (f *formatter) write(texts ...string) {
	for _, text := range texts {
		f.text.WriteString(text)
	}
}

// commas calls write for the numbers below n, with commas between them.
func (f *formatter) commas(n int, write func(int)) {
	for i := range n {
		if i > 0 {
			f.write(", ")
		}
		write(i)
	}
}

// name writes a name, in quotes if it had some or needs them.
func (f *formatter) name(n tree.Name) {
	if !n.Quoted && isPlainName(n.Text) {
		f.write(n.Text)
		return
	}
	f.write(`"`, strings.ReplaceAll(n.Text, `"`, `""`), `"`)
}

// isPlainName returns whether a name needs no quotes, unless it is a keyword.
func isPlainName(name string) bool {
	if name == "" || !isNameStart(name[0]) || strings.ContainsAny(name, spaces) {
		return false
	}
	for i := range len(name) {
		if !isNamePart(name[i]) {
			return false
		}
	}
	return true
}

// names writes names with commas between them.
func (f *formatter) names(names []tree.Name) {
	f.commas(len(names), func(i int) { f.name(names[i]) })
}

// qualified writes a name with the names before it.
func (f *formatter) qualified(names []tree.Name) {
	for i, name := range names {
		if i > 0 {
			f.write(".")
		}
		f.name(name)
	}
}

// quote writes a text in single quotes.
func (f *formatter) quote(text string) {
	f.write("'", strings.ReplaceAll(text, "'", "''"), "'")
}

// exprs writes expressions with commas between them.
func (f *formatter) exprs(list []tree.Expr) {
	f.commas(len(list), func(i int) { f.expr(list[i]) })
}

// list writes expressions in parentheses.
func (f *formatter) list(list []tree.Expr) {
	f.write("(")
	f.exprs(list)
	f.write(")")
}

// items writes items with their names.
func (f *formatter) items(items []tree.Item) {
	f.commas(len(items), func(i int) {
		f.expr(items[i].Expr)
		if items[i].Name.Text != "" {
			f.write(" as ")
			f.name(items[i].Name)
		}
	})
}

// inParentheses writes a query in parentheses.
func (f *formatter) inParentheses(q *tree.Query) {
	f.write("(")
	f.query(q)
	f.write(")")
}

// typeName writes a type.
func (f *formatter) typeName(t *tree.Type) {
	switch {
	case t.Element != nil && t.Name == "map":
		f.write("map(")
		f.typeName(t.Key)
		f.write(", ")
		f.typeName(t.Element)
		f.write(")")
	case t.Element != nil:
		f.typeName(t.Element)
		f.write("[")
		for _, length := range t.Params {
			f.write(strconv.FormatInt(length, 10))
		}
		f.write("]")
	case t.Fields != nil:
		f.write(t.Name, "(")
		f.commas(len(t.Fields), func(i int) {
			f.name(t.Fields[i].Name)
			f.write(" ")
			f.typeName(t.Fields[i].Type)
		})
		f.write(")")
	default:
		f.typeWords(t)
	}
}

// typeWords writes the words of a type with its parameters.
func (f *formatter) typeWords(t *tree.Type) {
	words, zone := strings.CutSuffix(t.Name, " with time zone")
	if isTypeWords(words) {
		f.write(words)
	} else {
		for i, part := range strings.Split(words, ".") {
			if i > 0 {
				f.write(".")
			}
			f.name(tree.Name{Text: part, Quoted: !isTypeWords(part)})
		}
	}
	if len(t.Params) > 0 {
		f.write("(")
		f.commas(len(t.Params), func(i int) { f.write(strconv.FormatInt(t.Params[i], 10)) })
		f.write(")")
	}
	if zone {
		f.write(" with time zone")
	}
}

// isTypeWords returns whether the name of a type needs no quotes.
func isTypeWords(name string) bool {
	first, _, words := strings.Cut(name, " ")
	switch word, class := keyword(first); {
	case name != strings.ToLower(name):
		return false
	case words:
		return class == columnWord
	case class == columnWord:
		return keywordTypes[word] || word == "interval"
	case class != notKeyword:
		return class != reserved && word != "struct" && word != "map" && word != "generated" && word != "enum"
	}
	for part := range strings.SplitSeq(name, ".") {
		if !isPlainName(part) {
			return false
		}
	}
	return true
}
