package parse

import (
	"strconv"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// query writes a query with its clauses.
func (f *formatter) query(q *tree.Query) {
	if q.With != nil {
		f.with(q.With)
	}
	switch q.Body.(type) {
	case *tree.Describe, *tree.Show:
		if q.With != nil || q.OrderBy != nil || q.Limit != nil || q.Offset != nil {
			f.operandBody(q.Body)
			break
		}
		f.body(q.Body)
	default:
		f.body(q.Body)
	}
	f.orderBy(q.OrderBy)
	if q.Limit != nil {
		f.write(" limit ")
		f.operand(q.Limit)
		if q.Percent {
			f.write(" %")
		}
	}
	if q.Offset != nil {
		f.write(" offset ")
		f.operand(q.Offset)
	}
}

func (f *formatter) with(w *tree.With) {
	f.write("with ")
	if w.Recursive {
		f.write("recursive ")
	}
	f.commas(len(w.Tables), func(i int) {
		table := w.Tables[i]
		f.name(table.Name)
		f.columns(table.Columns)
		f.write(" as ")
		if table.Materialized != nil {
			f.not(!*table.Materialized)
			f.write("materialized ")
		}
		f.inParentheses(table.Query)
	})
	f.write(" ")
}

// columns writes names in parentheses, or nothing without names.
func (f *formatter) columns(names []tree.Name) {
	if len(names) > 0 {
		f.write(" (")
		f.names(names)
		f.write(")")
	}
}

func (f *formatter) orderBy(o *tree.OrderBy) {
	if o == nil {
		return
	}
	f.write(" order by ")
	f.commas(len(o.Keys), func(i int) {
		if o.All {
			f.write("all")
		} else {
			f.expr(o.Keys[i].Expr)
		}
		if o.Keys[i].Descending {
			f.write(" desc")
		}
		f.write([]string{"", " nulls first", " nulls last"}[o.Keys[i].Nulls])
	})
}

// body writes a body.
func (f *formatter) body(b tree.Body) {
	switch b := b.(type) {
	case *tree.Select:
		f.selection(b)
	case *tree.SetOperation:
		f.setOperation(b)
	case *tree.Values:
		f.write("values ")
		f.commas(len(b.Rows), func(i int) { f.list(b.Rows[i]) })
	case *tree.Nested:
		f.inParentheses(b.Query)
	case *tree.Pivot:
		f.pivotBody(b)
	case *tree.Unpivot:
		f.unpivotBody(b)
	case tree.Statement:
		f.statement(b)
	}
}

// operandBody writes a body of a set operation.
func (f *formatter) operandBody(b tree.Body) {
	switch b.(type) {
	case *tree.Select, *tree.Values, *tree.Nested:
		f.body(b)
	default:
		f.write("(")
		f.body(b)
		f.write(")")
	}
}

func (f *formatter) setOperation(s *tree.SetOperation) {
	f.operandBody(s.Left)
	f.write([]string{" union ", " intersect ", " except "}[s.Kind])
	if s.All {
		f.write("all ")
	}
	if s.ByName {
		f.write("by name ")
	}
	f.operandBody(s.Right)
}

func (f *formatter) selection(s *tree.Select) {
	f.write("select ")
	if s.Distinct != nil {
		f.write("distinct ")
		if s.Distinct.On != nil {
			f.write("on ")
			f.list(s.Distinct.On)
			f.write(" ")
		}
	}
	f.items(s.Items)
	if len(s.From) > 0 {
		f.write(" from ")
		f.commas(len(s.From), func(i int) { f.table(s.From[i]) })
	}
	f.condition(" where ", s.Where)
	if s.GroupBy != nil {
		f.write(" group by ")
		if s.GroupBy.All {
			f.write("all")
		}
		f.groupKeys(s.GroupBy.Keys)
	}
	f.condition(" having ", s.Having)
	if len(s.Windows) > 0 {
		f.write(" window ")
		f.commas(len(s.Windows), func(i int) {
			f.name(s.Windows[i].Name)
			f.write(" as ")
			f.window(s.Windows[i].Window)
		})
	}
	f.condition(" qualify ", s.Qualify)
	f.sample(" using sample ", s.Sample)
}

// condition writes a clause with a condition, or nothing without one.
func (f *formatter) condition(clause string, e tree.Expr) {
	if e != nil {
		f.write(clause)
		f.expr(e)
	}
}

func (f *formatter) groupKeys(keys []tree.GroupKey) {
	f.commas(len(keys), func(i int) {
		switch key := keys[i]; key.Kind {
		case tree.KeyExpr:
			if row, ok := key.Exprs[0].(*tree.Row); ok && len(row.Items) > 1 {
				f.write("row") // else it would be a set
			}
			f.operand(key.Exprs[0])
		case tree.KeySet:
			f.list(key.Exprs)
		case tree.KeyRollup:
			f.write("rollup ")
			f.list(key.Exprs)
		case tree.KeyCube:
			f.write("cube ")
			f.list(key.Exprs)
		case tree.KeySets:
			f.write("grouping sets (")
			f.groupKeys(key.Sets)
			f.write(")")
		}
	})
}

// sample writes a sample behind a clause, or nothing without one.
func (f *formatter) sample(clause string, s *tree.Sample) {
	if s == nil {
		return
	}
	f.write(clause, s.Method, "(")
	f.expr(s.Size)
	f.write(map[bool]string{false: " rows)", true: " percent)"}[s.Percent])
	if s.Seed != nil {
		f.write(" repeatable (", strconv.FormatInt(*s.Seed, 10), ")")
	}
}
