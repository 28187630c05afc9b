package parse

import (
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// tableSample reads TABLESAMPLE, if it is there.
func (p *parser) tableSample() *tree.Sample {
	if !p.accept("tablesample") {
		return nil
	}
	return p.sample()
}

// sample reads the size, the method and the seed of a sample.
func (p *parser) sample() *tree.Sample {
	s := &tree.Sample{Position: p.pos()}
	if p.token().word == "(" || p.token().isColumnName() {
		if p.token().word != "(" {
			s.Method = p.sampleMethod()
		}
		p.expect("(")
		p.sampleSize(s)
		p.expect(")")
		if p.accept("repeatable") {
			p.expect("(")
			p.sampleSeed(s)
			p.expect(")")
		}
		return s
	}
	p.sampleSize(s)
	if p.accept("(") {
		s.Method = p.sampleMethod()
		if p.accept(",") {
			p.sampleSeed(s)
		}
		p.expect(")")
	}
	return s
}

// sampleMethod reads the method of a sample.
func (p *parser) sampleMethod() string {
	method := strings.ToLower(p.token().text)
	switch method {
	case "reservoir", "bernoulli", "system":
		p.take()
		return method
	}
	p.failHere("the method of a sample: reservoir, bernoulli or system")
	return ""
}

// sampleSize reads the size of a sample: a number or a parameter, with a unit.
func (p *parser) sampleSize(s *tree.Sample) {
	switch t := p.token(); {
	case t.kind == numberToken, t.kind == parameterToken, t.word == "?":
		s.Size, _ = p.bareOperand()
	default:
		p.failHere("the number or the share of rows, such as 10 percent")
	}
	if p.accept("%") || p.accept("percent") {
		s.Percent = true
		return
	}
	p.accept("rows")
}

// sampleSeed reads the seed of a sample.
func (p *parser) sampleSeed(s *tree.Sample) {
	seed := p.wholeNumber("a whole number")
	s.Seed = &seed
}
