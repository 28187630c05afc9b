package sqltest

import "github.com/gpuframe/gpuframe/sql/tree"

// call draws a call: of a function, an aggregate or a window function.
func (g *generator) call() tree.Expr {
	switch g.IntN(8) {
	case 0:
		return g.function("coalesce", 1, 3)
	case 1:
		return g.function("nullif", 2, 2)
	case 2:
		return g.function("position", 2, 2)
	case 3:
		return g.function("overlay", 3, 4)
	case 4:
		return g.aggregate()
	case 5:
		return g.windowCall()
	}
	e := g.function(pick(g, "f", "list_value", "left", "substring", "trim", "glob"), 1, 3)
	if name := e.Name[0].Text; name == "f" {
		if g.chance(3) {
			e.Args[0].Name = g.argumentName()
		}
		if g.chance(3) {
			e.Name = []tree.Name{{Text: "s"}, {Text: "F", Quoted: true}}
		}
	}
	return e
}

func (g *generator) argumentName() tree.Name {
	return pick(g, tree.Name{Text: "n"}, tree.Name{Text: "left"}, tree.Name{Text: "x y", Quoted: true})
}

// function draws a call of a function with arguments.
func (g *generator) function(name string, least, most int) *tree.Call {
	return &tree.Call{Name: []tree.Name{{Text: name}}, Args: fill(g, least, most, func() tree.Arg {
		return tree.Arg{Expr: g.expr()}
	})}
}

func (g *generator) aggregate() *tree.Call {
	if g.chance(5) {
		e := &tree.Call{Name: []tree.Name{{Text: "mode"}}, Within: &tree.OrderBy{Keys: []tree.OrderKey{g.orderKey()}}}
		return e
	}
	e := g.function(pick(g, "sum", "string_agg", "count"), 1, 2)
	if e.Name[0].Text == "count" {
		e.Args, e.Star = nil, true
	} else {
		e.Distinct = g.chance(3)
		if g.chance(3) {
			e.OrderBy = g.orderBy(false)
		}
	}
	if g.chance(2) {
		e.Filter = g.expr()
	}
	return e
}

func (g *generator) windowCall() *tree.Call {
	e := g.function(pick(g, "sum", "lag", "first_value"), 1, 1)
	e.IgnoreNulls = e.Name[0].Text != "sum" && g.chance(3)
	e.Over = g.window()
	return e
}

func (g *generator) window() *tree.Window {
	w := &tree.Window{Partition: fill(g, 0, 2, g.expr)}
	if g.chance(2) {
		w.OrderBy = g.orderBy(false)
	}
	if g.chance(2) {
		w.Frame = g.frame()
	}
	return w
}

func (g *generator) frame() *tree.Frame {
	f := &tree.Frame{Unit: tree.FrameUnit(g.IntN(3)), Exclude: tree.Exclusion(g.IntN(4))}
	kinds := pick(g,
		[2]tree.BoundKind{tree.UnboundedPreceding, tree.CurrentRow},
		[2]tree.BoundKind{tree.Preceding, tree.Following},
		[2]tree.BoundKind{tree.Preceding, tree.Preceding},
		[2]tree.BoundKind{tree.CurrentRow, tree.UnboundedFollowing},
		[2]tree.BoundKind{tree.Following, tree.Following},
	)
	f.Start, f.End = g.bound(kinds[0]), g.bound(kinds[1])
	return f
}

func (g *generator) bound(kind tree.BoundKind) tree.Bound {
	b := tree.Bound{Kind: kind}
	if kind == tree.Preceding || kind == tree.Following {
		b.Offset = g.expr()
	}
	return b
}
