package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// over reads the window behind OVER.
func (p *parser) over() *tree.Window {
	if p.token().word != "(" {
		pos := p.pos()
		return &tree.Window{Position: pos, Base: p.takeName()}
	}
	return p.window()
}

// window reads a window in parentheses.
func (p *parser) window() *tree.Window {
	w := &tree.Window{Position: p.pos()}
	p.expect("(")
	if t := p.token(); t.isColumnName() && !windowWords[t.word] {
		p.noteAlias()
		w.Base = p.takeName()
	}
	if p.accept("partition") {
		p.expect("by")
		w.Partition = []tree.Expr{p.expr()}
		for p.accept(",") {
			w.Partition = append(w.Partition, p.expr())
		}
	}
	order := p.token()
	w.OrderBy = p.orderBy()
	if w.OrderBy != nil && w.OrderBy.All {
		p.fail(order.pos, "ORDER BY ALL sorts results: a window needs expressions")
	}
	w.Frame = p.frame()
	p.expect(")")
	return w
}

// windowWords are the words that begin a clause of a window, and no name of one.
var windowWords = map[string]bool{"partition": true, "range": true, "rows": true, "groups": true}

// frame reads the frame of a window, if it has one.
func (p *parser) frame() *tree.Frame {
	f := &tree.Frame{Position: p.pos()}
	switch {
	case p.accept("rows"):
	case p.accept("range"):
		f.Unit = tree.Range
	case p.accept("groups"):
		f.Unit = tree.Groups
	default:
		return nil
	}
	start := p.token()
	f.End = tree.Bound{Kind: tree.CurrentRow}
	if p.accept("between") {
		if p.token().word == "not" {
			p.failHere("parentheses around NOT")
		}
		f.Start = p.bound()
		p.expect("and")
		f.End = p.bound()
	} else {
		f.Start = p.bound()
	}
	if message := frameFault(f.Start.Kind, f.End.Kind); message != "" {
		p.fail(start.pos, message)
	}
	f.Exclude = p.exclusion()
	return f
}

// frameFault returns the fault of ends that make no frame, or an empty text.
func frameFault(start, end tree.BoundKind) string {
	switch {
	case start == tree.UnboundedFollowing:
		return "a frame cannot start at UNBOUNDED FOLLOWING"
	case end == tree.UnboundedPreceding:
		return "a frame cannot end at UNBOUNDED PRECEDING"
	case start == tree.CurrentRow && end == tree.Preceding:
		return "a frame that starts at the current row cannot end before it"
	case start == tree.Following && (end == tree.Preceding || end == tree.CurrentRow):
		return "a frame that starts behind the current row cannot end at it or before it"
	}
	return ""
}

// bound reads an end of a frame.
func (p *parser) bound() tree.Bound {
	switch {
	case p.acceptWords("unbounded", "preceding"):
		return tree.Bound{Kind: tree.UnboundedPreceding}
	case p.acceptWords("unbounded", "following"):
		return tree.Bound{Kind: tree.UnboundedFollowing}
	case p.acceptWords("current", "row"):
		return tree.Bound{Kind: tree.CurrentRow}
	}
	b := tree.Bound{Kind: tree.Preceding, Offset: p.expr()}
	if !p.accept("preceding") {
		p.expect("following")
		b.Kind = tree.Following
	}
	return b
}

// exclusion reads EXCLUDE of a frame.
func (p *parser) exclusion() tree.Exclusion {
	if !p.accept("exclude") {
		return tree.ExcludeNothing
	}
	switch {
	case p.accept("current"):
		p.expect("row")
		return tree.ExcludeCurrentRow
	case p.accept("group"):
		return tree.ExcludeGroup
	case p.accept("ties"):
		return tree.ExcludeTies
	}
	p.expect("no")
	p.expect("others")
	return tree.ExcludeNothing
}
