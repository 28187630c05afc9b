package pipeline

import "slices"

// pivot reads what follows "pivot", for groups with some keys.
func (p *parser) pivot(s *step) {
	s.object["verb"], s.object["on"] = "pivot", s.expression(p.sum())
	p.values(s)
	p.expect("agg")
	s.object["aggregate"] = s.expression(p.item())
}

// crossTab reads the expressions and the values of a table of counts.
func (p *parser) crossTab(s *step) {
	s.object["rows"] = s.expression(p.sum())
	p.expect("by")
	s.object["columns"] = s.expression(p.sum())
	p.values(s)
}

// values reads the values that become columns.
func (p *parser) values(s *step) {
	p.expect("in")
	values := p.arguments(expressionAt)
	for _, n := range values {
		if !n.calls("literal") {
			p.fail(n.begin, "expected a literal: each names a column of the result")
		}
	}
	s.object["values"] = objects(values)
}

func (p *parser) unpivot(s *step) {
	columns(p, s)
	if p.accept("keep") {
		s.object["keep"] = s.columns(list(p, (*parser).name))
	}
}

func (p *parser) explode(s *step) {
	columns(p, s)
	for {
		switch {
		case p.acceptWords("drop", "empty"):
			s.object["drop_empty"] = true
		case p.accept("position"):
			s.object["position"] = p.name().value
		default:
			return
		}
	}
}

// resample reads the windows of a time, and the values of each.
func (p *parser) resample(s *step) {
	s.object["at"] = s.expression(p.expression())
	p.expect("every")
	p.every(s)
	p.hop(s)
	if p.accept("by") {
		expressions("by", (*parser).expression)(p, s)
	}
	p.expect("agg")
	expressions("aggregates", (*parser).item)(p, s)
}

// hop reads the span of windows, their offset, the ends that belong to them, and the end that the result has.
func (p *parser) hop(s *step) {
	if p.accept("span") {
		begin := p.peek().begin
		if p.peek().kind != number {
			p.unexpected("the span of windows, such as 1 hour or 3 month")
		}
		n, unit := p.number("", begin), p.unit()
		if _, isCalendar := s.object["calendar"]; isCalendar && slices.Contains(calendarUnits, unit) {
			p.next()
			s.object["span_calendar"] = object{"number": n, "unit": unit}
		} else {
			s.object["span"] = p.measured(n, begin).object
		}
	}
	if p.accept("offset") {
		begin, sign := p.peek().begin, ""
		if p.accept("-") {
			sign = "-"
		}
		s.object["offset"] = p.quantity(sign, begin).object
	}
	if p.accept("closed") {
		s.object["closed"], _ = p.acceptAny("left", "right", "both", "none")
	}
	if p.accept("label") {
		s.object["label"], _ = p.acceptAny("left", "right")
	}
}

// calendarUnits are the units of windows that do not all have the same length.
var calendarUnits = []string{"day", "week", "month", "quarter", "year"}

// every reads the length of windows.
func (p *parser) every(s *step) {
	begin := p.peek().begin
	if p.peek().kind != number {
		p.unexpected("the length of windows, such as 15 minute or 1 month")
	}
	n, unit := p.number("", begin), p.unit()
	if !slices.Contains(calendarUnits, unit) {
		s.object["every"] = p.measured(n, begin).object
		return
	}
	p.next()
	if !isWhole(n) {
		p.fail(begin, "%v is no whole number of %ss", n, unit)
	}
	calendar := object{"number": n, "unit": unit}
	if p.accept("in") {
		calendar["zone"] = p.quoted("a time zone in quotes")
	}
	if p.accept("from") {
		s.places["calendar"], calendar["week_start"] = p.peek().begin, p.next().value
	}
	s.object["calendar"] = calendar
}
