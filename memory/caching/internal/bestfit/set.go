package bestfit

// Set holds free runs of one [Space], ordered by size and then by address. Its zero
// value is empty and ready for use; the first insertion allocates a table of about
// 12 KB.
//
// Every method takes the Space of the nodes, which must always be the same for one
// set. Runs in a set do not overlap and have at least one byte.
type Set struct {
	table  *table
	length int
	bytes  uint64
}

// table holds the classes of a set: a bitmap of the non-empty classes, and their
// roots.
type table struct {
	bitmap
	roots [classCount]uint32
}

// single marks a root that is the number of the class's only node instead of a page.
// Finding that node needs no page, and most classes of large runs have only one
// node. A class that has had a page keeps it until the class is empty.
const single = 1 << 31

// Len returns the number of runs.
func (set *Set) Len() int { return set.length }

// Bytes returns the sum of the sizes of the runs.
func (set *Set) Bytes() uint64 { return set.bytes }

// Insert adds a run to the set. It returns false, and changes nothing, if the run is
// in a set or has no bytes.
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

// Remove removes a run from the set. It returns false, and changes nothing, if the
// run is not in the set.
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

// Find returns the best fit for a size or nil: the smallest run that is large
// enough, and among equal ones the run with the lowest address. The run stays in the
// set.
func (set *Set) Find(s *Space, bytes uint64) *Node {
	return set.from(s, bytes, 0)
}

// Largest returns the largest run or nil if the set is empty. Among equal ones it
// returns the run with the highest address.
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

// Each calls f for the runs in ascending order until f returns false. f may remove
// its run from the set and from the space.
func (set *Set) Each(s *Space, f func(*Node) bool) {
	for n := set.from(s, 1, 0); n != nil; {
		// f may free the node for another run, so the position is saved here. No
		// other run of this size begins before the end of this one.
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

// from returns the first node of a non-empty class with a key of at least the given
// key, or nil.
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
