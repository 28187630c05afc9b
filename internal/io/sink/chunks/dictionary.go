package chunks

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
)

// mostDictionary is the length of a dictionary at most, in PLAIN.
const mostDictionary = 1 << 20

// indexed are values as indices of their sorted, distinct values.
type indexed struct {
	indices []uint32
	// distinct has the values of the dictionary.
	distinct values
	count    int
}

// slots is a hash table of numbers of values.
type slots struct {
	// numbers has numbers from 1 on; zero is an empty slot.
	numbers []uint32
	count   int
}

func newSlots() slots { return slots{numbers: make([]uint32, 1<<10)} }

// shift returns by how much a hash is shifted to its slot.
func (s *slots) shift() int { return 64 - bits.Len(uint(len(s.numbers)-1)) }

// grow doubles the table if it is half full. hash returns the hash of a number's value.
func (s *slots) grow(hash func(number uint32) uint64) {
	if s.count*2 < len(s.numbers) {
		return
	}
	before := s.numbers
	s.numbers = make([]uint32, 2*len(before))
	shift, mask := s.shift(), len(s.numbers)-1
	for _, number := range before {
		if number == 0 {
			continue
		}
		at := int(hash(number-1) >> shift)
		for s.numbers[at] != 0 {
			at = (at + 1) & mask
		}
		s.numbers[at] = number
	}
}

// mixed is a hash of a number whose upper bits are good.
func mixed(v uint64) uint64 {
	v = (v ^ v>>32) * 0x9e3779b97f4a7c15
	return (v ^ v>>29) * 0xbf58476d1ce4e5b9
}

// index returns the values as indices, in the scratch memory, unless they have too many distinct ones.
func (v numbers[T]) index(scratch *[]uint32) (numberIndex[T], bool) {
	table := newSlots()
	ids := resized(*scratch, len(v.all))
	*scratch = ids
	var distinct []T
	limit := min(len(v.all)/2, mostDictionary/wordBytes[T]())
	hash := func(number uint32) uint64 { return mixed(uint64(distinct[number])) }
	shift, mask := table.shift(), len(table.numbers)-1
	for i, value := range v.all {
		at := int(mixed(uint64(value)) >> shift)
		for ; ; at = (at + 1) & mask {
			number := table.numbers[at]
			if number == 0 {
				if len(distinct) == limit {
					return numberIndex[T]{}, false
				}
				distinct = append(distinct, value)
				table.count = len(distinct)
				table.numbers[at] = uint32(len(distinct))
				ids[i] = uint32(len(distinct) - 1)
				table.grow(hash)
				shift, mask = table.shift(), len(table.numbers)-1
				break
			}
			if distinct[number-1] == value {
				ids[i] = number - 1
				break
			}
		}
	}
	return numberIndex[T]{ids, distinct, v.order}, len(distinct) > 0
}

// numberIndex are numbers as indices of their distinct values, in the order in which they occur.
type numberIndex[T word] struct {
	ids      []uint32
	distinct []T
	order    order
}

// length returns the length of the dictionary and the indices, without heads.
func (x numberIndex[T]) length() int {
	return len(x.distinct)*wordBytes[T]() + indicesLength(len(x.ids), len(x.distinct))
}

func indicesLength(n, distinct int) int { return n * indexWidth(distinct) / 8 }

// sorted sorts the dictionary.
func (x numberIndex[T]) sorted() *indexed {
	for i, v := range x.distinct {
		x.distinct[i] = rank(v, x.order)
	}
	order := sortedPlaces(len(x.distinct), func(a, b uint32) int {
		if x.distinct[a] < x.distinct[b] {
			return -1
		}
		return 1
	})
	sorted := make([]T, len(order))
	for i, at := range order {
		sorted[i] = unrank(x.distinct[at], x.order)
	}
	replace(x.ids, order)
	return &indexed{x.ids, numbers[T]{sorted, x.order}, len(sorted)}
}

// sortedPlaces returns the places of n different values in their order.
func sortedPlaces(n int, compare func(a, b uint32) int) []uint32 {
	places := make([]uint32, n)
	for i := range places {
		places[i] = uint32(i)
	}
	slices.SortFunc(places, compare)
	return places
}

// replace replaces ids by their positions among places.
func replace(ids, places []uint32) {
	positions := make([]uint32, len(places))
	for i, at := range places {
		positions[at] = uint32(i)
	}
	for i, id := range ids {
		ids[i] = positions[id]
	}
}

// textIndex numbers distinct texts.
type textIndex struct {
	table  slots
	seed   maphash.Seed
	values []string
	bytes  int
	isText bool // each value has its length before it
}

func newTextIndex(v *texts) *textIndex {
	return &textIndex{table: newSlots(), seed: maphash.MakeSeed(), isText: v.offsets != nil}
}

func (x *textIndex) hash(number uint32) uint64 { return maphash.String(x.seed, x.values[number]) }

// number returns the number of a text. It reports whether the dictionary is short enough.
func (x *textIndex) number(text []byte, limit int) (uint32, bool) {
	at := int(maphash.Bytes(x.seed, text) >> x.table.shift())
	for ; ; at = (at + 1) & (len(x.table.numbers) - 1) {
		number := x.table.numbers[at]
		if number == 0 {
			break
		}
		if x.values[number-1] == string(text) {
			return number - 1, true
		}
	}
	x.bytes += len(text)
	if x.isText {
		x.bytes += 4
	}
	if len(x.values) == limit || x.bytes > mostDictionary {
		return 0, false
	}
	x.values = append(x.values, string(text))
	x.table.count = len(x.values)
	x.table.numbers[at] = uint32(len(x.values))
	x.table.grow(x.hash)
	return uint32(len(x.values) - 1), true
}

// index returns the values as indices, in the scratch memory, unless they have too many distinct ones.
func (v *texts) index(scratch *[]uint32) (*textIndex, []uint32, bool) {
	x := newTextIndex(v)
	ids := resized(*scratch, v.count)
	*scratch = ids
	for i := range ids {
		// Neighbours are often equal.
		if i > 0 && bytes.Equal(v.at(i), v.at(i-1)) {
			ids[i] = ids[i-1]
			continue
		}
		id, ok := x.number(v.at(i), v.count/2)
		if !ok {
			return nil, nil, false
		}
		ids[i] = id
	}
	return x, ids, len(x.values) > 0
}

// sorted sorts the dictionary.
func (x *textIndex) sorted(ids []uint32, v *texts) *indexed {
	order := sortedPlaces(len(x.values), func(a, b uint32) int { return v.order.compareText(x.values[a], x.values[b]) })
	distinct := &texts{width: v.width, count: len(order), order: v.order, isUTF8: v.isUTF8}
	if x.isText {
		distinct.offsets = make([]int64, 1, len(order)+1)
	}
	for _, at := range order {
		distinct.data = append(distinct.data, x.values[at]...)
		if x.isText {
			distinct.offsets = append(distinct.offsets, int64(len(distinct.data)))
		}
	}
	replace(ids, order)
	return &indexed{ids, distinct, len(order)}
}
