package pipeline

// join reads the right side of a join, and the rows that match.
func (p *parser) join(s *step) {
	if t := p.peek(); t.kind == word && !t.matches("table") {
		s.places["kind"], s.object["kind"] = t.begin, p.next().value
	}
	right := p.other(s)
	for {
		switch {
		case p.accept("on"):
			s.object["on"] = p.keyPairs(s, right)
		case p.accept("using"):
			s.object["on"] = pairs(s, right, list(p, (*parser).usedName))
		case p.accept("matching"):
			s.conditions = list(p, (*parser).expression)
			s.object["where"] = objects(s.conditions)
		case p.acceptWords("nulls", "equal"):
			s.object["nulls_equal"] = true
		case p.suffix(s):
		default:
			return
		}
	}
}

// asOf reads the right side of an as-of join, its keys and its options.
func (p *parser) asOf(s *step) {
	right := p.other(s)
	p.expect("on")
	begin := p.peek().begin
	keys := p.keyPairs(s, right)
	if len(keys) > 1 {
		p.fail(begin, `on has %d keys, expected one: those that must be equal follow "by"`, len(keys))
	}
	s.object["on"] = keys[0]
	for {
		direction := p.peek()
		switch {
		case p.accept("by"):
			s.object["by"] = p.keyPairs(s, right)
		case p.accept("backward"), p.accept("forward"), p.accept("nearest"):
			s.object["direction"] = direction.value
		case p.accept("unequal"):
			s.object["not_equal"] = true
		case p.accept("within"):
			s.object["tolerance"] = p.constant().object
		case p.accept("matched"):
			s.object["matched_only"] = true
		case p.accept("sorted"):
			s.object["sorted"] = true
		case p.suffix(s):
		default:
			return
		}
	}
}

// nearestTo reads the right side of a search for the nearest rows, the vectors and its options.
func (p *parser) nearestTo(s *step) {
	s.object["k"] = p.count()
	right := p.other(s)
	p.expect("on")
	begin := p.peek().begin
	keys := p.keyPairs(s, right)
	if len(keys) > 1 {
		p.fail(begin, "on has %d vectors, expected one", len(keys))
	}
	s.object["on"] = keys[0]
	for {
		metric := p.peek()
		switch {
		case p.accept("l2"), p.accept("cosine"), p.accept("dot"):
			s.object["metric"] = metric.value
		case p.accept("dimensions"):
			s.object["dimensions"] = p.count()
		case p.accept("distance"):
			s.object["distance"] = p.name().value
		case p.accept("rank"):
			s.object["rank"] = p.name().value
		case p.accept("matched"):
			s.object["matched_only"] = true
		case p.suffix(s):
		default:
			return
		}
	}
}

// suffix reads what is added to names of the right side that the left side has too.
func (p *parser) suffix(s *step) bool {
	if !p.accept("suffix") {
		return false
	}
	s.object["suffix"] = p.quoted("a suffix in quotes")
	return true
}

func (p *parser) keyPairs(s *step, right *branch) []any {
	return pairs(s, right, list(p, (*parser).expression))
}

func (p *parser) usedName() *node { return column(p.name()) }

// pairs returns the keys of both sides: an equality has one of each, another expression is one of
// both. Terms may have "and" between them.
func pairs(s *step, right *branch, terms []*node) (list []any) {
	for _, term := range terms {
		if term.calls("and") {
			list = append(list, pairs(s, right, term.operands)...)
			continue
		}
		sides := []*node{term, term}
		if term.calls("eq") {
			sides = term.operands
		}
		right.nodes = append(right.nodes, sides[1])
		list = append(list, object{"left": s.expression(sides[0]), "right": sides[1].object})
	}
	return list
}

func (p *parser) union(s *step) {
	list(p, func(p *parser) *branch { return p.other(s) })
}

// sets reads the rows that are left out, or kept.
func (p *parser) sets(s *step) {
	if p.accept("all") {
		s.object["all"] = true
	}
	p.other(s)
}
