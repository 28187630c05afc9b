package sketch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The limits of the size of a KLL sketch.
const (
	LeastKLL = 8
	MostKLL  = math.MaxUint16
)

const (
	levelWidth = 8       // the least capacity of a level, which DataSketches calls m
	mostLevels = 60      // of sketches that are read
	mostValues = 1 << 60 // of a sketch, so that weights and ranks are int64
)

// kll is a KLL sketch: a value of level i stands for 2^i values. Level 0 has no order, the others are sorted.
type kll[T cmp.Ordered] struct {
	form      valueForm[T]
	k, leastK int // leastK is that of the sketches that were merged
	width     int // of a level, at least
	n         int64
	min, max  T // if there are values
	levels    [][]T
	capacity  []int // of each level
	room      int   // the number of values that fit before a level is compacted
}

func newKLL[T cmp.Ordered](k int, form valueForm[T]) *kll[T] {
	s := &kll[T]{form: form, k: k, leastK: k, width: levelWidth}
	s.raise(1)
	return s
}

// raise adds empty levels at the top.
func (s *kll[T]) raise(levels int) {
	s.levels = append(s.levels, make([][]T, levels)...)
	s.capacity = make([]int, len(s.levels))
	for level := range s.levels {
		s.capacity[level] = max(s.width, twoThirds(s.k, len(s.levels)-level-1))
	}
	s.room = s.places() - s.retained()
}

// add adds a value. NaN is left out, as by DataSketches.
func (s *kll[T]) add(v T) {
	if !s.form.isValue(v) {
		return
	}
	s.widen(v, v)
	s.n++
	s.put(v)
}

// widen adds a range to that of the values.
func (s *kll[T]) widen(least, greatest T) {
	if s.n == 0 {
		s.min, s.max = least, greatest
	}
	s.min, s.max = min(s.min, least), max(s.max, greatest)
}

func (s *kll[T]) put(v T) {
	if s.room == 0 {
		s.compact()
	}
	s.levels[0] = append(s.levels[0], v)
	s.room--
}

// places is the number of values that fit into all levels. It is part of the format, which stores how many are free.
func (s *kll[T]) places() (n int) {
	for _, capacity := range s.capacity {
		n += capacity
	}
	return n
}

// retained is the number of values in all levels.
func (s *kll[T]) retained() (n int) {
	for _, values := range s.levels {
		n += len(values)
	}
	return n
}

// twoThirds is k · (2/3)^depth, rounded, and twice for great depths.
func twoThirds(k, depth int) int {
	const most = 30
	if depth > most {
		return twoThirds(twoThirds(k, depth/2), depth-depth/2)
	}
	cube := uint64(1)
	for range depth {
		cube *= 3
	}
	return int((uint64(k)<<(depth+1)/cube + 1) / 2)
}

// compact halves the values of the lowest full level. Those that are left stand for twice as many.
func (s *kll[T]) compact() {
	level := 0
	for len(s.levels[level]) < s.capacity[level] {
		level++
	}
	if level == len(s.levels)-1 {
		s.raise(1)
	}
	values := s.levels[level]
	if level == 0 {
		slices.Sort(values)
	}
	odd := len(values) % 2 // the least value of an odd number stays
	half := everySecond(values[odd:], coin(s.form, values, s.n))
	s.levels[level] = values[:odd]
	s.levels[level+1] = mergeSorted(s.levels[level+1], half)
	s.room += len(half)
}

// everySecond moves every second value to the front, from the one with number first on.
func everySecond[T any](values []T, first int) []T {
	half := values[:len(values)/2]
	for i := range half {
		half[i] = values[2*i+first]
	}
	return half
}

// coin is 0 or 1: whether the values with even or with odd numbers stay. It is a bit of a hash of the values and of the number
// of values of the sketch, so that equal rows make equal sketches.
func coin[T cmp.Ordered](form valueForm[T], values []T, n int64) int {
	hash := uint64(n)
	for _, v := range values {
		hash = mixLow(hash ^ form.hash(v))
	}
	return int(finish(hash) >> 63)
}

// mergeSorted adds sorted values to others, which have room for them or are copied.
func mergeSorted[T cmp.Ordered](to, values []T) []T {
	last, next := len(to)-1, len(values)-1
	to = append(to, values...)
	for place := len(to) - 1; next >= 0; place-- {
		if last >= 0 && to[last] > values[next] {
			to[place] = to[last]
			last--
			continue
		}
		to[place] = values[next]
		next--
	}
	return to
}

// errTooMany reports sketches of too many values to count them.
var errTooMany = errors.New("the sketches have too many values")

// merge adds the values of another sketch, of which k is at least as great. The error is that of the least k.
func (s *kll[T]) merge(other *kll[T]) error {
	if s.n > mostValues-other.n {
		return fmt.Errorf("%w: %d and %d, expected at most %d", errTooMany, s.n, other.n, int64(mostValues))
	}
	s.form = s.form.common(other.form)
	s.leastK = min(s.leastK, other.leastK)
	if other.n > 0 {
		s.widen(other.min, other.max)
	}
	s.n += other.n
	for _, v := range other.levels[0] {
		s.put(v)
	}
	if higher := len(other.levels) - len(s.levels); higher > 0 {
		s.raise(higher)
	}
	for level := 1; level < len(other.levels); level++ {
		s.levels[level] = mergeSorted(s.levels[level], other.levels[level])
		s.room -= len(other.levels[level])
	}
	for s.room < 0 {
		s.compact()
	}
	return nil
}
