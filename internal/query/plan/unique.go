package plan

import (
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// isUnique reports whether no two rows of a node have equal values in a column.
func (o *optimization) isUnique(n Node, name string) (bool, error) {
	switch n := n.(type) {
	case *Scan:
		if o.facts == nil {
			return false, nil
		}
		return o.facts.IsUnique(o.ctx, n.source, name)
	case *Join:
		return o.isUniqueInJoin(n, name)
	}
	input, from := n.origin(name)
	if rows := n.rowsFrom(); rows == nil || input != rows {
		return false, nil
	}
	return o.isUnique(input, from)
}

// isUniqueInJoin reports whether a column is unique in the rows of one side of a join, and each of them has one match.
func (o *optimization) isUniqueInJoin(j *Join, name string) (bool, error) {
	if j.options.Kind == join.Semi {
		return o.isUnique(j.left, name)
	}
	if j.options.Kind != join.Inner || len(j.options.Keys) != 1 {
		return false, nil
	}
	for side, input := range j.Inputs() {
		from, ok := j.columnOf(side, name)
		if !ok {
			continue
		}
		if unique, err := o.isUnique(input, from); err != nil || !unique {
			return false, err
		}
		k := j.options.Keys[0]
		other, ok := plainColumn([]expr.Expr{k.Right, k.Left}[side])
		if !ok {
			return false, nil
		}
		return o.isUnique(j.Inputs()[1-side], other)
	}
	return false, nil
}

func (s *Scan) determined(o *optimization, known columnSet) (columnSet, error) {
	if s.rows > o.mostCounted {
		return known, nil
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		unique, err := o.isUnique(s, name)
		if err != nil {
			return nil, err
		}
		if unique {
			return columnSet{}.and(s.columns), nil
		}
	}
	return known, nil
}

func (f *Filter) determined(o *optimization, known columnSet) (columnSet, error) {
	return f.input.determined(o, known)
}

func (p *Project) determined(o *optimization, known columnSet) (columnSet, error) {
	below := columnSet{}
	for name := range known {
		if input, from := p.origin(name); input != nil {
			below[from] = true
		}
	}
	below, err := p.input.determined(o, below)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(known)
	for _, name := range columnsOf(p.schema) {
		if input, from := p.origin(name); input != nil && below[from] {
			all[name] = true
		}
	}
	return all, nil
}

// determined of a group is all columns if all keys are known.
func (a *Aggregate) determined(_ *optimization, known columnSet) (columnSet, error) {
	for _, k := range a.keys {
		if !known[k.Name()] {
			return known, nil
		}
	}
	return columnSet{}.and(columnsOf(a.schema)), nil
}

// determined also finds columns by equal keys.
func (j *Join) determined(o *optimization, known columnSet) (columnSet, error) {
	if j.options.Kind == join.Semi {
		return j.left.determined(o, known)
	}
	if j.options.Kind != join.Inner {
		return known, nil
	}
	all := maps.Clone(known)
	for before := -1; before != len(all); {
		before = len(all)
		for side, input := range j.Inputs() {
			below := columnSet{}
			for name := range all {
				if from, ok := j.columnOf(side, name); ok {
					below[from] = true
				}
			}
			below, err := input.determined(o, below)
			if err != nil {
				return nil, err
			}
			for _, name := range columnsOf(j.schema) {
				if from, ok := j.columnOf(side, name); ok && below[from] {
					all[name] = true
				}
			}
		}
		for _, k := range j.options.Keys {
			left, isLeft := plainColumn(k.Left)
			right, isRight := plainColumn(k.Right)
			if !isLeft || !isRight {
				continue
			}
			right = j.nameOfRight(right)
			if isFloat(typeOf(k.Left, j.left.Schema())) || isFloat(typeOf(k.Right, j.right.Schema())) {
				continue // zeros of both signs are equal
			}
			if all[left] || all[right] {
				all[left], all[right] = true, true
			}
		}
	}
	return all, nil
}

// columnOf returns the column of a side that a column of an inner join is.
func (j *Join) columnOf(side int, name string) (from string, ok bool) {
	if right := j.fromRight[name]; right != "" {
		return right, side == 1
	}
	if side == 0 {
		return name, true
	}
	// The key of both sides.
	return name, slices.ContainsFunc(j.options.Keys, func(k JoinKey) bool { shared, ok := k.shared(); return ok && shared == name })
}
