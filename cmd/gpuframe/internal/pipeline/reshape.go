package pipeline

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// pivot reads what follows "pivot", for groups with some keys.
func (p *parser) pivot(keys []*node) (step, error) {
	on, err := p.sum()
	if err != nil {
		return step{}, err
	}
	if err := p.expect("in"); err != nil {
		return step{}, err
	}
	literals, err := p.arguments()
	if err != nil {
		return step{}, err
	}
	values := make([]any, len(literals))
	for i, n := range literals {
		if values[i] = n.literal; n.literal == nil && !n.null {
			return step{}, p.failAt(n.begin, errors.New("expected a literal: each names a column of the result"))
		}
	}
	if err := p.expect("agg"); err != nil {
		return step{}, err
	}
	aggregate, err := p.item()
	if err != nil {
		return step{}, err
	}
	nodes := append(append([]*node{}, keys...), on, aggregate)
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query {
		return q.GroupBy(expressions(keys)...).Pivot(on.value, values, aggregate.value)
	}}, nil
}

func (p *parser) unpivot() (step, error) {
	columns, nodes, err := p.columns()
	if err != nil {
		return step{}, err
	}
	var kept []string
	if p.accept("keep") {
		var more []*node
		if kept, more, err = p.columns(); err != nil {
			return step{}, err
		}
		nodes = append(nodes, more...)
	}
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.Unpivot(columns, kept...) }}, nil
}

func (p *parser) explode() (step, error) {
	columns, nodes, err := p.columns()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.Explode(columns...) }}, err
}

func (p *parser) fillNull() (step, error) {
	value, err := p.factor()
	if err != nil {
		return step{}, err
	}
	if value.literal == nil {
		return step{}, p.failAt(value.begin, errors.New("expected a literal"))
	}
	if err := p.expect("in"); err != nil {
		return step{}, err
	}
	columns, nodes, err := p.columns()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.FillNull(value.literal, columns...) }}, err
}

// seed reads the seed of random numbers, which is 0 without one.
func (p *parser) seed() (uint64, error) {
	if !p.accept("seed") {
		return 0, nil
	}
	n, err := p.count()
	return uint64(n), err
}

func (p *parser) sample() (step, error) {
	if p.peek().kind != number {
		return step{}, p.unexpected("a fraction below 1, or a number of rows")
	}
	n, err := p.number("", p.peek().begin)
	if err != nil {
		return step{}, err
	}
	seed, err := p.seed()
	options := gpuframe.SampleOptions{Seed: seed}
	switch part := n.literal.(type) {
	case int:
		return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.SampleRows(int64(part), options) }}, err
	case float64:
		return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.Sample(part, options) }}, err
	}
	return step{}, p.failAt(n.begin, fmt.Errorf("%v is no fraction and no number of rows", n.literal))
}

func (p *parser) shuffle() (step, error) {
	seed, err := p.seed()
	return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.Shuffle(seed) }}, err
}

func (p *parser) random() (step, error) {
	t, err := p.name()
	if err != nil {
		return step{}, err
	}
	seed, err := p.seed()
	return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.WithRandom(t.value, seed) }}, err
}

func (p *parser) rowNumber() (step, error) {
	t, err := p.name()
	return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.WithRowNumber(t.value) }}, err
}
