package pipeline

import "slices"

// over reads the window of an expression.
func (p *parser) over(n *node) *node {
	w := call(n.begin, "over", n)
	p.expect("(")
	if !p.beginsFrame() {
		w.object["by"] = w.including(list(p, (*parser).expression))
	}
	if p.acceptWords("order", "by") {
		keys, nodes := p.keys()
		w.object["order"] = keys
		w.operands = append(w.operands, nodes...)
	}
	if p.accept("rows") {
		w.object["rows"] = p.bounds(func(sign string, begin int) any { return p.rows(sign, begin) })
	} else if p.accept("range") {
		w.object["range"] = p.bounds(func(sign string, begin int) any { return p.distance(sign, begin) })
	}
	if p.acceptWords("at", "least") {
		w.object["at_least"] = p.count()
	}
	p.expectOr(")", `an operator, "order", "rows", "range", "at" or ")"`)
	return w
}

// beginsFrame reports whether what follows the keys of a window comes next. A column with one
// of the names is meant if the grammar goes on otherwise.
func (p *parser) beginsFrame() bool {
	t, after := p.peek(), p.tokens[min(p.at+1, len(p.tokens)-1)]
	switch {
	case t.matches(")"):
		return true
	case t.matches("order"):
		return after.matches("by")
	case t.matches("rows"), t.matches("range"):
		return after.kind == number || after.matches("-") || after.matches("start") || after.matches("end")
	case t.matches("at"):
		return after.matches("least")
	}
	return false
}

// distance reads a difference of keys: a number, a duration, or months, quarters or years. With a time zone days and weeks are
// those of its clocks.
func (p *parser) distance(sign string, begin int) object {
	n, unit := p.number(sign, begin), p.unit()
	if !slices.Contains(calendarUnits, unit) {
		return p.measured(n, begin).object
	}
	after := p.tokens[min(p.at+1, len(p.tokens)-1)]
	if _, hasLength := units[unit]; hasLength && !after.matches("in") {
		return p.measured(n, begin).object
	}
	p.next()
	if !isWhole(n) {
		p.fail(begin, "%v is no whole number of %ss", n, unit)
	}
	calendar := object{"number": n, "unit": unit}
	if p.accept("in") {
		calendar["zone"] = p.quoted("a time zone in quotes")
	}
	return object{"calendar": calendar}
}

// bounds reads "LOW to HIGH". The bounds "start" and "end", which set no limit, are null.
func (p *parser) bounds(bound func(sign string, begin int) any) []any {
	low := p.bound("start", bound)
	p.expect("to")
	return []any{low, p.bound("end", bound)}
}

func (p *parser) bound(unlimited string, bound func(sign string, begin int) any) any {
	if p.accept(unlimited) {
		return nil
	}
	begin, sign := p.peek().begin, ""
	if p.accept("-") {
		sign = "-"
	}
	if p.peek().kind != number {
		p.unexpected("a number")
	}
	return bound(sign, begin)
}
