package rowgroups

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
)

// mostDictionary is the length of a dictionary at most, in PLAIN.
const mostDictionary = 1 << 20

// indexed are values as indices of their sorted, distinct values.
type indexed struct {
	indices indices
	// distinct has the values of the dictionary.
	distinct values
	count    int
}

// indices are indices of a dictionary, of a host or of a device.
type indices interface {
	// appendPage appends the indices of some values, as a page has them.
	appendPage(to []byte, from, end, width int) []byte
	// extremes returns the least and the greatest of some indices.
	extremes(from, end int) (low, high uint32)
}

// hostIndices are indices in memory of the host.
type hostIndices []uint32

func (x hostIndices) appendPage(to []byte, from, end, width int) []byte {
	return appendIndices(to, x[from:end], width)
}

func (x hostIndices) extremes(from, end int) (low, high uint32) {
	low, high = x[from], x[from]
	for _, index := range x[from:end] {
		low, high = min(low, index), max(high, index)
	}
	return low, high
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

// mixed is a hash of a number with good upper bits.
func mixed(v uint64) uint64 {
	v = (v ^ v>>32) * 0x9e3779b97f4a7c15
	return (v ^ v>>29) * 0xbf58476d1ce4e5b9
}

// mostDistinct returns how many values of a length a dictionary has at most, with which n values are
// shorter than length.
func mostDistinct(n, width, length int) (most int) {
	for indexBits := 1; indexBits <= 20; indexBits++ {
		room := length - n*indexBits/8 - 1
		if room > 0 {
			most = max(most, min(room/width, 1<<indexBits))
		}
	}
	return min(most, n/2, mostDictionary/width)
}

// index returns the values as indices, in the scratch memory, if they are shorter so than length.
func (v numbers[T]) index(length int, s *scratch) *indexed {
	most := mostDistinct(len(v.all), wordBytes[T](), length)
	if most == 0 {
		return nil
	}
	s.indices = resized(s.indices, len(v.all))
	var x *indexed
	if low, high := rankRange(v.all, v.order); high-low < mostDirect {
		x = v.indexDirect(low, int(high-low)+1, most, s)
	} else {
		x = v.indexHashed(most, s.indices)
	}
	if x != nil && x.length(len(v.all)) < length {
		return x
	}
	return nil
}

// length returns the length of the dictionary and of n indices, without heads.
func (x *indexed) length(n int) int { return x.distinct.length(0, x.count) + indicesLength(n, x.count) }

func indicesLength(n, distinct int) int { return n * indexWidth(distinct) / 8 }

// mostDirect is the range of values that are numbered by a table of the range.
const mostDirect = 1 << 20

// rankRange returns the least and the greatest rank of values.
func rankRange[T word](values []T, o order) (low, high T) {
	low = ^T(0)
	if o == orderSigned {
		top := ^(^T(0) >> 1)
		for _, v := range values {
			low, high = min(low, v^top), max(high, v^top)
		}
		return low, high
	}
	for _, v := range values {
		low, high = min(low, rank(v, o)), max(high, rank(v, o))
	}
	return low, high
}

// indexDirect numbers values by a table with an entry for each rank from low on.
func (v numbers[T]) indexDirect(low T, length, most int, s *scratch) *indexed {
	s.table = resized(s.table, length)
	clear(s.table)
	for _, value := range v.all {
		s.table[rank(value, v.order)-low] = 1
	}
	var distinct []T
	for i, present := range s.table {
		if present != 0 {
			if len(distinct) == most {
				return nil
			}
			s.table[i] = uint32(len(distinct))
			distinct = append(distinct, unrank(low+T(i), v.order))
		}
	}
	for i, value := range v.all {
		s.indices[i] = s.table[rank(value, v.order)-low]
	}
	return &indexed{hostIndices(s.indices), numbers[T]{distinct, v.order}, len(distinct)}
}

// indexHashed numbers values by a hash table.
func (v numbers[T]) indexHashed(most int, indices []uint32) *indexed {
	table := newSlots()
	var distinct []T
	hash := func(number uint32) uint64 { return mixed(uint64(distinct[number])) }
	shift, mask := table.shift(), len(table.numbers)-1
	for i, value := range v.all {
		at := int(mixed(uint64(value)) >> shift)
		for table.numbers[at] != 0 && distinct[table.numbers[at]-1] != value {
			at = (at + 1) & mask
		}
		if number := table.numbers[at]; number != 0 {
			indices[i] = number - 1
			continue
		}
		if len(distinct) == most {
			return nil
		}
		distinct = append(distinct, value)
		indices[i] = uint32(len(distinct) - 1)
		table.count, table.numbers[at] = len(distinct), uint32(len(distinct))
		table.grow(hash)
		shift, mask = table.shift(), len(table.numbers)-1
	}
	sorted, inverse := sortedNumbers(distinct, v.order)
	for i, id := range indices {
		indices[i] = inverse[id]
	}
	return &indexed{hostIndices(indices), numbers[T]{sorted, v.order}, len(sorted)}
}

// sortedNumbers returns numbers in their order, and the index there of each.
func sortedNumbers[T word](list []T, o order) (sorted []T, indices []uint32) {
	order := sortedPlaces(len(list), func(a, b uint32) int { return cmp.Compare(rank(list[a], o), rank(list[b], o)) })
	sorted = make([]T, len(order))
	for i, at := range order {
		sorted[i] = list[at]
	}
	return sorted, positions(order)
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

// positions returns the position of each number from 0 on in a list of all.
func positions(list []uint32) []uint32 {
	inverse := make([]uint32, len(list))
	for i, at := range list {
		inverse[at] = uint32(i)
	}
	return inverse
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

// index returns the values as indices, in the scratch memory, if they are shorter so than length.
func (v *texts) index(length int, s *scratch) *indexed {
	x := newTextIndex(v)
	s.indices = resized(s.indices, v.count)
	for i := range s.indices {
		// Neighbours are often equal.
		if i > 0 && bytes.Equal(v.at(i), v.at(i-1)) {
			s.indices[i] = s.indices[i-1]
			continue
		}
		id, ok := x.number(v.at(i), v.count/2)
		if !ok {
			return nil
		}
		s.indices[i] = id
	}
	if len(x.values) == 0 || x.bytes+indicesLength(v.count, len(x.values)) >= length {
		return nil
	}
	return x.sorted(s.indices, v)
}

// sorted sorts the dictionary.
func (x *textIndex) sorted(ids []uint32, v *texts) *indexed {
	distinct, indices := sortedTexts(x.values, v, x.isText)
	for i, id := range ids {
		ids[i] = indices[id]
	}
	return &indexed{hostIndices(ids), distinct, distinct.count}
}

// sortedTexts returns texts in the order of others, and the index there of each.
func sortedTexts(list []string, like *texts, isText bool) (distinct *texts, indices []uint32) {
	order := sortedPlaces(len(list), func(a, b uint32) int { return like.order.compareText(list[a], list[b]) })
	distinct = &texts{width: like.width, count: len(order), order: like.order, isUTF8: like.isUTF8}
	if isText {
		distinct.offsets = make([]int64, 1, len(order)+1)
	}
	for _, at := range order {
		distinct.data = append(distinct.data, list[at]...)
		if isText {
			distinct.offsets = append(distinct.offsets, int64(len(distinct.data)))
		}
	}
	return distinct, positions(order)
}
