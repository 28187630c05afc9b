package bestfit

// Set holds free runs of one [Space] in the order of their sizes and, among
// equal sizes, of their addresses. Its zero value is empty and ready for use;
// the first insertion allocates a table of some 12 KB.
//
// Every method takes the Space that the nodes belong to, always the same for one
// set. Runs in a set do not overlap, and have at least one byte.
type Set struct {
	table  *table
	length int
	bytes  uint64
}

// table has the classes of a set: those that are not empty, and the roots of
// their pages.
type table struct {
	bitmap
	roots [classCount]uint32
}

// single marks a root that is the number of the class's only node, and not that
// of a page. Then finding it needs no page, and most classes of large runs have
// but one. A class that has had a page keeps it until it is empty.
const single = 1 << 31

// Len returns the number of runs.
func (set *Set) Len() int { return set.length }

// Bytes returns the sum of the sizes of the runs.
func (set *Set) Bytes() uint64 { return set.bytes }

// Insert puts a run into the set. It reports false, and changes nothing, if the
// run is in a set or has no bytes.
func (set *Set) Insert(s *Space, n *Node) bool {
	if n.Bytes == 0 || n.member {
		return false
	}
	if set.table == nil {
		set.table = new(table)
	}
	class, width := classOf(n.Bytes)
	key := keyOf(n.Bytes, n.Address, width)
	root := &set.table.roots[class]
	switch {
	case *root == 0:
		*root = n.self | single
		set.table.set(class)
	case *root&single != 0:
		other := s.nodes.at(*root &^ single)
		*root = s.pages.plant(keyOf(other.Bytes, other.Address, width), other.self)
		fallthrough
	default:
		s.pages.insert(root, key, n.self)
	}
	n.member = true
	set.length++
	set.bytes += n.Bytes
	return true
}

// Remove takes a run out of the set. It reports false, and changes nothing, if
// the run is not in the set.
func (set *Set) Remove(s *Space, n *Node) bool {
	if !n.member || set.table == nil {
		return false
	}
	class, width := classOf(n.Bytes)
	root := &set.table.roots[class]
	switch {
	case *root == n.self|single:
		*root = 0
	case *root == 0 || *root&single != 0 || !s.pages.remove(root, keyOf(n.Bytes, n.Address, width), n.self):
		return false
	}
	if *root == 0 {
		set.table.clear(class)
	}
	n.member = false
	set.length--
	set.bytes -= n.Bytes
	return true
}

// Find returns the best fit for a size, the smallest run that suffices and among
// equal ones the one with the lowest address, or nil. The run stays in the set.
func (set *Set) Find(s *Space, bytes uint64) *Node {
	return set.from(s, bytes, 0)
}

// Largest returns the largest run, among equal ones the one with the highest
// address, nil if the set is empty.
func (set *Set) Largest(s *Space) *Node {
	if set.length == 0 {
		return nil
	}
	root := set.table.roots[set.table.last()]
	if root&single != 0 {
		return s.nodes.at(root &^ single)
	}
	return s.nodes.at(s.pages.last(root))
}

// Each calls f for the runs in ascending order until it returns false. f may
// take the run that it is given out of the set and out of the space.
func (set *Set) Each(s *Space, f func(*Node) bool) {
	for n := set.from(s, 1, 0); n != nil; {
		// The node may be another run's when f returns, so the place to go on is
		// noted here: no other run of this size begins before this one's end.
		bytes, end := n.Bytes, n.Address+n.Bytes
		if !f(n) {
			return
		}
		n = set.from(s, bytes, end)
	}
}

// from returns the first run that is larger, or equal in size and not below the
// address.
func (set *Set) from(s *Space, bytes, address uint64) *Node {
	if set.length == 0 {
		return nil
	}
	bytes = max(bytes, 1)
	class, width := classOf(bytes)
	if root := set.table.roots[class]; root != 0 {
		if n := s.from(root, keyOf(bytes, address, width), width); n != nil {
			return n
		}
	}
	class, ok := set.table.after(class)
	if !ok {
		return nil
	}
	return s.from(set.table.roots[class], 0, 0)
}

// from returns the first node of a class that is not empty whose key is not below
// a key, nil if there is none.
func (s *Space) from(root uint32, key uint64, width uint) *Node {
	if root&single != 0 {
		n := s.nodes.at(root &^ single)
		if keyOf(n.Bytes, n.Address, width) < key {
			return nil
		}
		return n
	}
	number := s.pages.from(root, key)
	if number == 0 {
		return nil
	}
	return s.nodes.at(number)
}
