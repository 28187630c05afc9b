package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// value writes a nested value or a part of one.
func (f *formatter) value(e tree.Expr) {
	switch e := e.(type) {
	case *tree.List:
		if e.Array {
			f.write("array ")
		}
		f.write("[")
		f.exprs(e.Items)
		f.write("]")
	case *tree.Comprehension:
		f.comprehension(e)
	case *tree.Struct:
		f.write("{")
		f.commas(len(e.Fields), func(i int) {
			f.name(e.Fields[i].Name)
			f.write(": ")
			f.expr(e.Fields[i].Value)
		})
		f.write("}")
	case *tree.Map:
		f.write("map {")
		f.commas(len(e.Keys), func(i int) {
			f.expr(e.Keys[i])
			f.write(": ")
			f.expr(e.Values[i])
		})
		f.write("}")
	case *tree.Row:
		f.row(e)
	case *tree.Subscript:
		f.whole(e.X)
		f.write("[")
		f.expr(e.Index)
		f.write("]")
	case *tree.Slice:
		f.slice(e)
	case *tree.FieldOf:
		if _, ok := e.X.(*tree.Column); ok {
			f.write("(")
			f.expr(e.X)
			f.write(")")
		} else {
			f.whole(e.X)
		}
		f.write(".")
		f.name(e.Name)
	}
}

// whole writes an expression before a subscript or a field.
func (f *formatter) whole(e tree.Expr) {
	switch x := e.(type) {
	case *tree.Literal:
		if x.Kind != tree.Text {
			break
		}
		f.expr(e)
		return
	case *tree.Exists, *tree.Columns:
	case *tree.Call:
		if x.Over != nil {
			break
		}
		f.expr(e)
		return
	default:
		f.operand(e)
		return
	}
	f.write("(")
	f.expr(e)
	f.write(")")
}

func (f *formatter) comprehension(e *tree.Comprehension) {
	f.write("[")
	f.expr(e.Value)
	f.write(" for ")
	f.names(e.Variables)
	f.write(" in ")
	f.operand(e.Of)
	if e.If != nil {
		f.write(" if ")
		f.expr(e.If)
	}
	f.write("]")
}

func (f *formatter) row(e *tree.Row) {
	if len(e.Items) < 2 {
		f.write("row")
	}
	f.list(e.Items)
}

func (f *formatter) slice(e *tree.Slice) {
	f.whole(e.X)
	f.write("[")
	if e.From != nil {
		f.operand(e.From)
	}
	f.write(":")
	switch {
	case e.To != nil:
		f.operand(e.To)
	case e.Step != nil:
		f.write("-")
	}
	if e.Step != nil {
		f.write(":")
		f.operand(e.Step)
	}
	f.write("]")
}
