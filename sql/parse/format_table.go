package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// table writes a table.
func (f *formatter) table(t tree.Table) {
	switch t := t.(type) {
	case *tree.TableName:
		f.qualified(t.Name)
		f.alias(t.Alias)
		f.sample(" tablesample ", t.Sample)
	case *tree.File:
		f.quote(t.Path)
		f.alias(t.Alias)
		f.sample(" tablesample ", t.Sample)
	case *tree.TableFunction:
		f.lateral(t.Lateral)
		f.call(t.Call)
		if t.Ordinality {
			f.write(" with ordinality")
		}
		f.alias(t.Alias)
		f.sample(" tablesample ", t.Sample)
	case *tree.Subquery:
		f.lateral(t.Lateral)
		f.inParentheses(t.Query)
		f.alias(t.Alias)
		f.sample(" tablesample ", t.Sample)
	case *tree.Join:
		f.join(t)
	case *tree.Pivot:
		f.pivot(t)
	case *tree.Unpivot:
		f.unpivot(t)
	}
}

// operandTable writes a table of a join or a pivot.
func (f *formatter) operandTable(t tree.Table) {
	if _, ok := t.(*tree.Join); !ok {
		f.table(t)
		return
	}
	f.write("(")
	f.table(t)
	f.write(")")
}

func (f *formatter) lateral(lateral bool) {
	if lateral {
		f.write("lateral ")
	}
}

func (f *formatter) alias(a tree.Alias) {
	if a.Name.Text != "" {
		f.write(" as ")
		f.name(a.Name)
		f.columns(a.Columns)
	}
}

// joinWords are the words of joins.
var joinWords = map[tree.JoinKind]string{
	tree.InnerJoin: "join ", tree.LeftJoin: "left join ", tree.RightJoin: "right join ",
	tree.FullJoin: "full join ", tree.SemiJoin: "semi join ", tree.AntiJoin: "anti join ",
	tree.CrossJoin: "cross join ", tree.PositionalJoin: "positional join ",
}

func (f *formatter) join(j *tree.Join) {
	f.operandTable(j.Left)
	f.write(" ")
	if j.Natural {
		f.write("natural ")
	}
	if j.AsOf {
		f.write("asof ")
	}
	f.write(joinWords[j.Kind])
	f.operandTable(j.Right)
	f.condition(" on ", j.On)
	if len(j.Using) > 0 {
		f.write(" using")
		f.columns(j.Using)
	}
}

func (f *formatter) pivot(p *tree.Pivot) {
	f.operandTable(p.Table)
	f.write(" pivot (")
	f.items(p.Aggregates)
	f.write(" for ")
	for i, column := range p.On {
		if i > 0 {
			f.write(" ")
		}
		f.pivotColumn(column)
	}
	f.pivotGroups(p)
	f.write(")")
	f.alias(p.Alias)
}

func (f *formatter) pivotGroups(p *tree.Pivot) {
	if len(p.GroupBy) > 0 {
		f.write(" group by ")
		f.exprs(p.GroupBy)
	}
}

func (f *formatter) pivotColumn(c tree.PivotColumn) {
	f.operand(c.Expr)
	switch {
	case c.Query != nil:
		f.write(" in ")
		f.inParentheses(c.Query)
	case c.Enum.Text != "":
		f.write(" in ")
		f.name(c.Enum)
	case c.Values != nil:
		f.write(" in (")
		f.items(c.Values)
		f.write(")")
	}
}

func (f *formatter) pivotBody(p *tree.Pivot) {
	f.write("pivot ")
	f.operandTable(p.Table)
	if len(p.On) > 0 {
		f.write(" on ")
		f.commas(len(p.On), func(i int) { f.pivotColumn(p.On[i]) })
	}
	if len(p.Aggregates) > 0 {
		f.write(" using ")
		f.items(p.Aggregates)
	}
	f.pivotGroups(p)
}

func (f *formatter) unpivotNulls(u *tree.Unpivot) {
	if u.IncludeNulls {
		f.write(" include nulls")
	}
}

func (f *formatter) unpivot(u *tree.Unpivot) {
	f.operandTable(u.Table)
	f.write(" unpivot")
	f.unpivotNulls(u)
	f.write(" (")
	if len(u.Values) == 1 {
		f.name(u.Values[0])
	} else {
		f.columns(u.Values)
	}
	f.write(" for ")
	f.name(u.Name)
	f.write(" in (")
	f.items(u.Columns)
	f.write("))")
	f.alias(u.Alias)
}

func (f *formatter) unpivotBody(u *tree.Unpivot) {
	f.write("unpivot ")
	f.operandTable(u.Table)
	f.unpivotNulls(u)
	f.write(" on ")
	f.items(u.Columns)
	f.write(" into name ")
	f.name(u.Name)
	f.write(" value ")
	f.names(u.Values)
}
