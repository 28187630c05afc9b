package tree

// Walk calls visit for a node and the nodes below it, parents first, with their depth from 0. It leaves out the
// nodes below those for which visit returns false. Its own memory does not grow with the depth of the stack, so
// that it can measure the depth of a tree.
func Walk(root Node, visit func(n Node, depth int) bool) {
	type entry struct {
		node  Node
		depth int
	}
	stack := []entry{{root, 0}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !visit(top.node, top.depth) {
			continue
		}
		first := len(stack)
		Children(top.node, func(child Node) { stack = append(stack, entry{child, top.depth + 1}) })
		for i, j := first, len(stack)-1; i < j; i, j = i+1, j-1 {
			stack[i], stack[j] = stack[j], stack[i]
		}
	}
}

// Children calls visit for the expressions, queries, bodies and tables directly below a node, in the order of
// the text. Clauses such as [OrderBy] and [Window] are no children: their expressions are.
func Children(n Node, visit func(Node)) {
	c := children{visit}
	switch n := n.(type) {
	case Expr:
		c.ofExpr(n)
	case Body:
		c.ofBody(n)
	case *Query:
		c.ofQuery(n)
	case Table:
		c.ofTable(n)
	case Statement:
		c.ofStatement(n)
	}
}

// children visits the children of nodes.
type children struct{ visit func(Node) }

func (c children) exprs(list ...Expr) {
	for _, e := range list {
		if e != nil {
			c.visit(e)
		}
	}
}

func (c children) query(q *Query) {
	if q != nil {
		c.visit(q)
	}
}

func (c children) items(list []Item) {
	for _, item := range list {
		c.exprs(item.Expr)
	}
}

func (c children) orderBy(o *OrderBy) {
	if o != nil {
		for _, key := range o.Keys {
			c.exprs(key.Expr)
		}
	}
}

func (c children) window(w *Window) {
	if w == nil {
		return
	}
	c.exprs(w.Partition...)
	c.orderBy(w.OrderBy)
	if w.Frame != nil {
		c.exprs(w.Frame.Start.Offset, w.Frame.End.Offset)
	}
}

func (c children) ofExpr(e Expr) {
	switch e := e.(type) {
	case *Unary:
		c.exprs(e.X)
	case *Binary:
		c.exprs(e.X, e.Y)
	case *Logic:
		c.exprs(e.Terms...)
	case *Is:
		c.exprs(e.X, e.From)
	case *Between:
		c.exprs(e.X, e.Low, e.High)
	case *In:
		c.exprs(e.X, e.Of)
		c.exprs(e.List...)
		c.query(e.Query)
	case *Like:
		c.exprs(e.X, e.Pattern, e.Escape)
	case *Quantified:
		c.exprs(e.X, e.Of)
		c.query(e.Query)
	case *Collate:
		c.exprs(e.X)
	case *AtTimeZone:
		c.exprs(e.X, e.Zone)
	case *Cast:
		c.exprs(e.X)
	case *Interval:
		c.exprs(e.Value)
	case *Exists:
		c.query(e.Query)
	case *Scalar:
		c.query(e.Query)
	case *Case:
		c.exprs(e.X)
		for _, branch := range e.Branches {
			c.exprs(branch.When, branch.Then)
		}
		c.exprs(e.Else)
	case *Star:
		c.items(e.Replace)
		c.items(e.Rename)
		if e.Like != nil {
			c.visit(e.Like)
		}
	default:
		c.ofValue(e)
	}
}

// ofValue visits the children of calls and of nested values.
func (c children) ofValue(e Expr) {
	switch e := e.(type) {
	case *Call:
		for _, arg := range e.Args {
			c.exprs(arg.Expr)
		}
		c.orderBy(e.OrderBy)
		c.orderBy(e.Within)
		c.exprs(e.Filter)
		c.window(e.Over)
	case *Columns:
		c.exprs(e.Of)
	case *Lambda:
		c.exprs(e.Body)
	case *List:
		c.exprs(e.Items...)
	case *Comprehension:
		c.exprs(e.Value, e.Of, e.If)
	case *Struct:
		for _, field := range e.Fields {
			c.exprs(field.Value)
		}
	case *Map:
		for i, key := range e.Keys {
			c.exprs(key, e.Values[i])
		}
	case *Row:
		c.exprs(e.Items...)
	case *Subscript:
		c.exprs(e.X, e.Index)
	case *Slice:
		c.exprs(e.X, e.From, e.To, e.Step)
	case *FieldOf:
		c.exprs(e.X)
	}
}

func (c children) ofQuery(q *Query) {
	if q.With != nil {
		for _, table := range q.With.Tables {
			c.query(table.Query)
		}
	}
	if q.Body != nil {
		c.visit(q.Body)
	}
	c.orderBy(q.OrderBy)
	c.exprs(q.Limit, q.Offset)
}

func (c children) ofBody(b Body) {
	switch b := b.(type) {
	case *Select:
		c.ofSelect(b)
	case *SetOperation:
		c.visit(b.Left)
		c.visit(b.Right)
	case *Values:
		for _, row := range b.Rows {
			c.exprs(row...)
		}
	case *Nested:
		c.query(b.Query)
	case Table:
		c.ofTable(b)
	case Statement:
		c.ofStatement(b)
	}
}

func (c children) ofSelect(s *Select) {
	if s.Distinct != nil {
		c.exprs(s.Distinct.On...)
	}
	c.items(s.Items)
	for _, table := range s.From {
		c.visit(table)
	}
	c.exprs(s.Where)
	if s.GroupBy != nil {
		c.groupKeys(s.GroupBy.Keys)
	}
	c.exprs(s.Having)
	for _, window := range s.Windows {
		c.window(window.Window)
	}
	c.exprs(s.Qualify)
	c.sample(s.Sample)
}

func (c children) groupKeys(keys []GroupKey) {
	for _, key := range keys {
		c.exprs(key.Exprs...)
		c.groupKeys(key.Sets)
	}
}

func (c children) sample(s *Sample) {
	if s != nil {
		c.exprs(s.Size)
	}
}

func (c children) ofTable(t Table) {
	switch t := t.(type) {
	case *TableName:
		c.sample(t.Sample)
	case *File:
		c.sample(t.Sample)
	case *TableFunction:
		c.visit(t.Call)
		c.sample(t.Sample)
	case *Subquery:
		c.query(t.Query)
		c.sample(t.Sample)
	case *Join:
		c.visit(t.Left)
		c.visit(t.Right)
		c.exprs(t.On)
	case *Pivot:
		c.ofPivot(t)
	case *Unpivot:
		c.visit(t.Table)
		c.items(t.Columns)
	}
}

func (c children) ofPivot(p *Pivot) {
	c.visit(p.Table)
	for _, column := range p.On {
		c.exprs(column.Expr)
		c.items(column.Values)
		c.query(column.Query)
	}
	c.items(p.Aggregates)
	c.exprs(p.GroupBy...)
}

func (c children) ofStatement(s Statement) {
	switch s := s.(type) {
	case *Create:
		c.query(s.Query)
	case *Copy:
		c.query(s.Query)
		c.exprs(s.Path)
		for _, option := range s.Options {
			c.exprs(option.Values...)
		}
	case *Describe:
		c.query(s.Query)
	case *Explain:
		if s.Statement != nil {
			c.visit(s.Statement)
		}
	}
}
