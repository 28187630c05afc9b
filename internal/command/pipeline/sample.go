package pipeline

// seed reads the seed of random numbers, or nothing.
func (p *parser) seed(s *step) bool {
	if !p.accept("seed") {
		return false
	}
	s.object["seed"] = p.count()
	return true
}

func (p *parser) shuffle(s *step) { p.seed(s) }

func (p *parser) random(s *step) {
	s.object["verb"], s.object["name"] = "with_random", p.name().value
	p.seed(s)
}

func (p *parser) sample(s *step) {
	begin := p.peek().begin
	if p.peek().kind != number {
		p.unexpected("a fraction below 1, or a number of rows")
	}
	switch part := p.number("", begin); {
	case isWhole(part):
		s.object["verb"], s.object["n"] = "sample_rows", part
	case isFloat(part):
		s.object["fraction"] = part
	default:
		p.fail(begin, "%v is no fraction and no number of rows", part)
	}
	for {
		switch {
		case p.seed(s):
		case p.accept("replace"):
			s.object["replace"] = true
		case p.accept("weight"):
			s.object["weight"] = s.expression(p.expression())
		case p.accept("by"):
			expressions("by", (*parser).expression)(p, s)
		default:
			return
		}
	}
}
