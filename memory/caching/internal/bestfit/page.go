package bestfit

import "math/bits"

const (
	// pageLength makes a page four cache lines long.
	pageLength = 20
	// pageLow is the minimum number of entries of every page except a root.
	pageLow = pageLength / 4
)

// page is a page of a tree. A leaf holds runs, as their keys and node numbers,
// unsorted: with at most 20 entries a scan is as fast as a search of sorted entries,
// and insertion and removal move nothing.
//
// An inner page has sorted keys; its numbers are those of its child pages. A child
// page holds only keys that are not below the child's key in the inner page. The
// first key of the first page of a level is unused.
type page struct {
	count uint32
	// level is 0 in a leaf, otherwise one more than the level of the child pages.
	level   uint32
	numbers [pageLength]uint32
	keys    [pageLength]uint64

	_ [8]byte
}

// add adds a run to a leaf that is not full.
func (p *page) add(key uint64, node uint32) {
	p.keys[p.count] = key
	p.numbers[p.count] = node
	p.count++
}

// drop removes a run from a leaf. It returns false if the run is not in the leaf.
func (p *page) drop(node uint32) bool {
	for i, number := range p.numbers[:p.count] {
		if number == node {
			p.count--
			p.keys[i] = p.keys[p.count]
			p.numbers[i] = p.numbers[p.count]
			return true
		}
	}
	return false
}

// from returns the node of the smallest key in a leaf that is at least the given
// key, or 0.
func (p *page) from(key uint64) (node uint32) {
	// For smaller keys the difference wraps to more than ^key, the largest
	// difference that a valid key can have. The loop has no branch, because a branch
	// on the smallest key is unpredictable.
	var index int
	least := ^uint64(0)
	for i, k := range p.keys[:p.count] {
		difference := k - key
		if difference < least {
			index = i
		}
		least = min(least, difference)
	}
	if least > ^key {
		return 0
	}
	return p.numbers[index]
}

// last returns the node of the largest key in a leaf.
func (p *page) last() (node uint32) {
	var index int
	for i, k := range p.keys[:p.count] {
		if k > p.keys[index] {
			index = i
		}
	}
	return p.numbers[index]
}

// child returns the index in an inner page of the child page to which a key belongs:
// the last one with a key that is not larger.
func (p *page) child(key uint64) uint32 {
	// Counting all larger keys costs less than the branches of a search.
	var larger uint64
	for _, k := range p.keys[1:p.count] {
		_, borrow := bits.Sub64(key, k, 0)
		larger += borrow
	}
	return p.count - 1 - uint32(larger)
}

// insert adds a child page at an index of an inner page that is not full.
func (p *page) insert(index uint32, key uint64, number uint32) {
	copy(p.keys[index+1:], p.keys[index:p.count])
	copy(p.numbers[index+1:], p.numbers[index:p.count])
	p.keys[index], p.numbers[index] = key, number
	p.count++
}

// remove removes the child page at an index of an inner page.
func (p *page) remove(index uint32) {
	copy(p.keys[index:], p.keys[index+1:p.count])
	copy(p.numbers[index:], p.numbers[index+1:p.count])
	p.count--
}

// moveUp moves entries from the end of a page to the start of the next page. Both
// are sorted.
func (p *page) moveUp(after *page, count uint32) {
	copy(after.keys[count:], after.keys[:after.count])
	copy(after.numbers[count:], after.numbers[:after.count])
	p.count -= count
	copy(after.keys[:count], p.keys[p.count:])
	copy(after.numbers[:count], p.numbers[p.count:])
	after.count += count
}

// moveDown moves entries from the start of the next page to the end of a page. Both
// are sorted.
func (p *page) moveDown(after *page, count uint32) {
	copy(p.keys[p.count:], after.keys[:count])
	copy(p.numbers[p.count:], after.numbers[:count])
	p.count += count
	copy(after.keys[:], after.keys[count:after.count])
	copy(after.numbers[:], after.numbers[count:after.count])
	after.count -= count
}

// sort sorts a leaf.
func (p *page) sort() {
	for i := 1; i < int(p.count); i++ {
		key, number := p.keys[i], p.numbers[i]
		j := i
		for ; j > 0 && p.keys[j-1] > key; j-- {
			p.keys[j], p.numbers[j] = p.keys[j-1], p.numbers[j-1]
		}
		p.keys[j], p.numbers[j] = key, number
	}
}
