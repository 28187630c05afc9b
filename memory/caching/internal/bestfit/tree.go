package bestfit

// pages holds the trees of all classes of all sets of a space. A tree is a B+ tree,
// identified by the number of its root page; 0 means no tree. Insertion divides full
// pages and removal fills pages with few entries on the way down, so that neither
// has to go back up.
type pages struct {
	slabs[page]
}

// plant returns a tree with one run.
func (t *pages) plant(key uint64, node uint32) (root uint32) {
	root, p := t.take()
	p.count, p.level = 0, 0
	p.add(key, node)
	return root
}

// insert adds a run to the tree at root, which must not be empty.
func (t *pages) insert(root *uint32, key uint64, node uint32) {
	p := t.at(*root)
	if p.count == pageLength {
		p = t.raise(root)
	}
	for p.level > 0 {
		index := p.child(key)
		below := t.at(p.numbers[index])
		if below.count == pageLength {
			t.divide(p, index)
			below = t.at(p.numbers[p.child(key)])
		}
		p = below
	}
	p.add(key, node)
}

// raise puts a page above a full root and divides the old root.
func (t *pages) raise(root *uint32) *page {
	number, p := t.take()
	p.count, p.level = 1, t.at(*root).level+1
	p.numbers[0] = *root
	*root = number
	t.divide(p, 0)
	return p
}

// divide moves half of a full child page to a new page after it. The inner page must
// not be full.
func (t *pages) divide(p *page, index uint32) {
	full := t.at(p.numbers[index])
	if full.level == 0 {
		full.sort()
	}
	number, after := t.take()
	after.count, after.level = 0, full.level
	full.moveUp(after, pageLength/2)
	p.insert(index+1, after.keys[0], number)
}

// remove removes a run from the tree at root, which must not be empty. It returns
// false if the run is not in the tree.
func (t *pages) remove(root *uint32, key uint64, node uint32) bool {
	p := t.at(*root)
	for p.level > 0 {
		index := p.child(key)
		below := t.at(p.numbers[index])
		if below.count <= pageLow {
			t.fill(p, index)
			below = t.at(p.numbers[p.child(key)])
			if p.count == 1 { // only a root has a single child
				t.giveBack(*root)
				*root = p.numbers[0]
			}
		}
		p = below
	}
	if !p.drop(node) {
		return false
	}
	if p.count == 0 { // only a root can be empty
		t.giveBack(*root)
		*root = 0
	}
	return true
}

// fill raises a child page above the minimum number of entries: it merges the page
// with a neighbour or moves entries from it.
func (t *pages) fill(p *page, index uint32) {
	if index == p.count-1 {
		index--
	}
	number := p.numbers[index+1]
	before, after := t.at(p.numbers[index]), t.at(number)
	if before.level == 0 {
		before.sort()
		after.sort()
	}
	if before.count+after.count <= pageLength*3/4 {
		before.moveDown(after, after.count)
		p.remove(index + 1)
		t.giveBack(number)
		return
	}
	if before.count > after.count {
		before.moveUp(after, (before.count-after.count)/2)
	} else {
		before.moveDown(after, (after.count-before.count)/2)
	}
	p.keys[index+1] = after.keys[0]
}

// from returns the node of the smallest key in a tree that is at least the given
// key, or 0.
func (t *pages) from(root uint32, key uint64) (node uint32) {
	p := t.at(root)
	var next uint32 // the page, at any level, after the page of the key
	for p.level > 0 {
		index := p.child(key)
		if index+1 < p.count {
			next = p.numbers[index+1]
		}
		p = t.at(p.numbers[index])
	}
	if node = p.from(key); node != 0 || next == 0 {
		return node
	}
	return t.first(next)
}

// first returns the node of the smallest key of a tree.
func (t *pages) first(root uint32) (node uint32) {
	p := t.at(root)
	for p.level > 0 {
		p = t.at(p.numbers[0])
	}
	return p.from(0)
}

// last returns the node of the largest key of a tree.
func (t *pages) last(root uint32) (node uint32) {
	p := t.at(root)
	for p.level > 0 {
		p = t.at(p.numbers[p.count-1])
	}
	return p.last()
}
