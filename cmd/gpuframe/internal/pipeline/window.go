package pipeline

import (
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe"
)

// window reads the window of "over", and returns the expressions in it.
func (p *parser) window() (gpuframe.Window, []*node, error) {
	w := gpuframe.By()
	if err := p.expect("("); err != nil {
		return w, nil, err
	}
	var nodes []*node
	if !p.beginsFrame() {
		keys, err := list(p, p.expression)
		if err != nil {
			return w, nil, err
		}
		nodes, w = keys, gpuframe.By(expressions(keys)...)
	}
	if p.accept("order") {
		if err := p.expect("by"); err != nil {
			return w, nil, err
		}
		more, orders, err := p.keys()
		if err != nil {
			return w, nil, err
		}
		nodes, w = append(nodes, more...), w.OrderBy(orders...)
	}
	w, err := p.frame(w)
	if err != nil {
		return w, nil, err
	}
	if !p.accept(")") {
		return w, nil, p.unexpected(`an operator, "order", "rows", "range", "at" or ")"`)
	}
	return w, nodes, nil
}

// beginsFrame reports whether what follows the keys of a window comes next. A column with one
// of the names is meant if the grammar goes on otherwise.
func (p *parser) beginsFrame() bool {
	t, after := p.peek(), p.tokens[min(p.at+1, len(p.tokens)-1)]
	switch {
	case t.is(")"):
		return true
	case t.is("order"):
		return after.is("by")
	case t.is("rows"), t.is("range"):
		return after.kind == number || after.is("-") || after.is("start") || after.is("end")
	case t.is("at"):
		return after.is("least")
	}
	return false
}

// frame reads the frame of a window, if it has one.
func (p *parser) frame(w gpuframe.Window) (gpuframe.Window, error) {
	if p.accept("rows") {
		bounds, err := p.bounds(p.rowBound)
		if err != nil {
			return w, err
		}
		low, high := int64(gpuframe.FirstRow), int64(gpuframe.LastRow)
		if bounds[0] != nil {
			low = bounds[0].(int64)
		}
		if bounds[1] != nil {
			high = bounds[1].(int64)
		}
		w = w.Rows(low, high)
	} else if p.accept("range") {
		bounds, err := p.bounds(p.rangeBound)
		if err != nil {
			return w, err
		}
		w = w.Range(bounds[0], bounds[1])
	}
	if p.accept("at") {
		if err := p.expect("least"); err != nil {
			return w, err
		}
		n, err := p.count()
		if err != nil {
			return w, err
		}
		w = w.AtLeast(n)
	}
	return w, nil
}

// bounds parses "LOW to HIGH". The bounds "start" and "end", which set no limit, become nil.
func (p *parser) bounds(bound func() (any, error)) (bounds [2]any, err error) {
	for i, unlimited := range []string{"start", "end"} {
		if i == 1 {
			if err := p.expect("to"); err != nil {
				return bounds, err
			}
		}
		if p.accept(unlimited) {
			continue
		}
		if bounds[i], err = bound(); err != nil {
			return bounds, err
		}
	}
	return bounds, nil
}

// signed reads a number with an optional sign.
func (p *parser) signed() (*node, error) {
	begin, sign := p.peek().begin, ""
	if p.accept("-") {
		sign = "-"
	}
	if p.peek().kind != number {
		return nil, p.unexpected("a number")
	}
	return p.number(sign, begin)
}

func (p *parser) rowBound() (any, error) {
	n, err := p.signed()
	if err != nil {
		return nil, err
	}
	rows, ok := n.literal.(int)
	if !ok {
		return nil, p.failAt(n.begin, fmt.Errorf("%v is no number of rows", n.literal))
	}
	return int64(rows), nil
}

// units are the units of ranges of times.
var units = map[string]time.Duration{"day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute, "second": time.Second}

func (p *parser) rangeBound() (any, error) {
	n, err := p.signed()
	if err != nil {
		return nil, err
	}
	name, ok := p.acceptAny("day", "hour", "minute", "second")
	if !ok {
		return n.literal, nil
	}
	number, ok := n.literal.(int)
	if whole := units[name]; ok && time.Duration(number)*whole/whole == time.Duration(number) {
		return time.Duration(number) * whole, nil
	}
	return nil, p.failAt(n.begin, fmt.Errorf("%v is no whole number of %ss", n.literal, name))
}
