package sketch

import (
	"cmp"
	"math"
	"slices"
)

// rankDigits is the unit in which DataSketches rounds the number of values that a fraction stands for, and the most values of
// which it does: 0.07 of 100 values are 7, although the product of the floats is more.
const rankDigits = 1e7

// valuesOf returns the least number of values that is a fraction rank of all.
func (s *kll[T]) valuesOf(rank float64) int64 {
	n := rank * float64(s.n)
	if s.n <= rankDigits {
		n = math.Round(n*rankDigits) / rankDigits
	}
	return int64(math.Ceil(n))
}

// quantile returns the first value, in order, up to which a fraction rank of the values lies: the least one of 0, the greatest
// one of 1. The sketch has values.
func (s *kll[T]) quantile(rank float64) T {
	switch target := s.valuesOf(rank); {
	case target <= 1:
		return s.min
	case target < s.n:
		return s.valueAt(target)
	}
	return s.max
}

// valueAt returns the first value, in order, up to which n values lie.
func (s *kll[T]) valueAt(n int64) T {
	type weighted struct {
		value  T
		weight int64
	}
	list := make([]weighted, 0, s.retained())
	for level, values := range s.levels {
		for _, v := range values {
			list = append(list, weighted{v, 1 << level})
		}
	}
	slices.SortFunc(list, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	for _, w := range list {
		if n -= w.weight; n <= 0 {
			return w.value
		}
	}
	return s.max
}

// rank returns the fraction of the values that are v or less. The sketch has values.
func (s *kll[T]) rank(v T) float64 {
	var below int64
	for level, values := range s.levels {
		for _, w := range values {
			if w <= v {
				below += 1 << level
			}
		}
	}
	switch {
	case v < s.min:
		return 0
	case v >= s.max:
		return 1
	}
	return float64(below) / float64(s.n)
}
