package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// match reads BETWEEN, IN, LIKE, ILIKE, GLOB and SIMILAR TO.
func (p *parser) match(left tree.Expr) tree.Expr {
	start := p.token()
	not := p.accept("not")
	var e tree.Expr
	switch t := p.take(); t.word {
	case "in":
		return p.in(left, tree.Position(start.pos), not)
	case "between":
		e = p.between(left, tree.Position(start.pos), not)
	case "glob":
		if not {
			p.fail(start.pos, "GLOB has no NOT behind the text: write NOT (text GLOB pattern)")
		}
		e = p.like(left, tree.Position(start.pos), tree.GlobPattern, not)
	case "like":
		e = p.like(left, tree.Position(start.pos), tree.LikePattern, not)
	case "ilike":
		e = p.like(left, tree.Position(start.pos), tree.ILikePattern, not)
	default:
		p.expect("to")
		e = p.like(left, tree.Position(start.pos), tree.SimilarPattern, not)
	}
	if p.infixLevel(false) == matchLevel {
		p.failHere("parentheses or AND: comparisons have no chains")
	}
	return e
}

// like reads a pattern.
func (p *parser) like(left tree.Expr, pos tree.Position, kind tree.LikeKind, not bool) tree.Expr {
	if word := p.token().word; word == "any" || word == "all" || word == "some" {
		p.failHere("a pattern: for a list of patterns, write a comparison with each and OR between them")
	}
	e := &tree.Like{Position: pos, X: left, Kind: kind, Not: not, Pattern: p.exprAbove(matchLevel, false)}
	if t := p.token(); kind != tree.GlobPattern && p.accept("escape") {
		if kind == tree.SimilarPattern {
			p.fail(t.pos, "SIMILAR TO has no ESCAPE: write a backslash before the character")
		}
		e.Escape = p.exprAbove(matchLevel, false)
	}
	if star, ok := left.(*tree.Star); ok && star.Like == nil {
		e.X = nil
		star.Like = e
		return star
	}
	return e
}

// between reads the ends of BETWEEN.
func (p *parser) between(left tree.Expr, pos tree.Position, not bool) tree.Expr {
	e := &tree.Between{Position: pos, X: left, Not: not}
	e.Symmetric = p.accept("symmetric")
	if !e.Symmetric {
		p.accept("asymmetric")
	}
	e.Low = p.restricted()
	p.expect("and")
	e.High = p.exprAbove(matchLevel, false)
	return e
}

// in reads the list, the query or the expression of IN.
func (p *parser) in(left tree.Expr, pos tree.Position, not bool) tree.Expr {
	e := &tree.In{Position: pos, X: left, Not: not}
	if p.token().word != "(" {
		e.Of = p.inOperand()
		return e
	}
	e.Query, e.List = p.inParentheses(true)
	return e
}

// inOperand reads the column or the value behind IN.
func (p *parser) inOperand() tree.Expr {
	t, next := p.token(), p.ahead(1)
	value := false
	switch t.word {
	case "null", "true", "false", "default":
		value = true
	case "exists", "row":
		value = next.word == "("
	case "interval":
		value = next.word == "(" || next.kind == textToken || next.kind == numberToken
	}
	if value || t.kind == textToken || t.kind == blobToken || t.kind == numberToken {
		p.failHere("a list in parentheses, a query, or a column")
	}
	e, _ := p.bareOperand()
	return e
}
