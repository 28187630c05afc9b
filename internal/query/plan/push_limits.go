package plan

// pushLimits moves limits on the number of rows towards the sources: a scan may end early,
// and of a sort with a limit only the first rows are kept.
func (o *optimization) pushLimits(root Node) (Node, error) {
	separated, err := o.separate(root)
	if err != nil {
		return nil, err
	}
	p := limitPusher{o.Analysis, parents(separated)}
	return o.rewrite(separated, func(n Node) (Node, error) {
		if slice, ok := n.(*Slice); ok {
			return p.slice(slice)
		}
		return n, nil
	})
}

type limitPusher struct {
	*Analysis
	parents map[Node]int
}

// slice returns a slice with a limit on what it reads.
func (p *limitPusher) slice(n *Slice) (Node, error) {
	end := n.End()
	if end == All {
		return n, nil
	}
	input, err := p.first(n.input, end)
	if err != nil {
		return nil, err
	}
	sliced, err := input.sliced(p, n)
	if sliced != nil || err != nil {
		return sliced, err
	}
	return withInputs(n, input)
}

// within returns the length of a slice of a slice of another length.
func within(length, offset, wanted int64) int64 {
	if length == All {
		return wanted
	}
	return min(max(length-offset, 0), wanted)
}

// first returns a node with the same first rows as n. It may yield fewer other rows.
func (p *limitPusher) first(n Node, rows int64) (Node, error) {
	if p.parents[n] > 1 {
		return n, nil
	}
	first, err := n.first(p, rows)
	if first == nil && err == nil {
		return n, nil
	}
	return first, err
}

// firstOf returns a node on the first rows of its only input.
func (p *limitPusher) firstOf(n Node, rows int64) (Node, error) {
	head, err := p.first(n.Inputs()[0], rows)
	if err != nil {
		return nil, err
	}
	return withInputs(n, head)
}

// atMost returns the first rows of a node and no others, so that an input of a union ends
// when it has yielded all that can be needed.
func (p *limitPusher) atMost(n Node, rows int64) (Node, error) {
	if size := p.rowsOf(n); size.Exact && size.Rows <= rows {
		return n, nil
	}
	slice, err := NewSlice(n, 0, rows)
	if err != nil {
		return nil, err
	}
	return p.slice(slice)
}
