package plan

import "github.com/gpuframe/gpuframe/kernels/expr"

// conditionSet is a set of conditions by their fingerprints.
type conditionSet map[uint64][]expr.Expr

func conditionSetOf(list []expr.Expr) conditionSet {
	s := make(conditionSet, len(list))
	for _, c := range list {
		s.add(c)
	}
	return s
}

// has reports whether a condition or one that is the same is in the set.
func (s conditionSet) has(c expr.Expr) bool {
	for _, known := range s[c.Fingerprint()] {
		if known.Same(c) {
			return true
		}
	}
	return false
}

// add reports whether a condition was not in the set before.
func (s conditionSet) add(c expr.Expr) bool {
	if s.has(c) {
		return false
	}
	s[c.Fingerprint()] = append(s[c.Fingerprint()], c)
	return true
}

// union returns the conditions of a list and of another one, each once.
func union(list, more []expr.Expr) []expr.Expr {
	known := conditionSet{}
	var all []expr.Expr
	for _, conditions := range [][]expr.Expr{list, more} {
		for _, c := range conditions {
			if known.add(c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// filtered keeps the rows that meet all conditions. A filter below becomes part of it.
func filtered(input Node, conditions []expr.Expr) (Node, error) {
	if len(conditions) == 0 || isNothing(input) {
		return input, nil
	}
	if below, ok := input.(*Filter); ok && below.Columns() == nil {
		input, conditions = below.input, union(below.condition.Conjuncts(), conditions)
	}
	return node(NewFilter(input, allOf(conditions)))
}

// allOf joins conditions with And.
func allOf(conditions []expr.Expr) expr.Expr {
	all := conditions[0]
	for _, c := range conditions[1:] {
		all = all.And(c)
	}
	return all
}
