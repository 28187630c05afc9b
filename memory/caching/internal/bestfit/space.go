package bestfit

// Space owns runs of address space. Its zero value is empty and ready for use. The
// memory of removed runs is kept for later ones. A Space and the sets of its nodes
// are not safe for concurrent use.
//
// A node must not be in a set while it is split, joined or removed. It must not be
// used after Remove, or after Join of the preceding node, has removed it.
type Space struct {
	nodes slabs[Node]
	pages pages
	count int
}

// Len returns the number of runs.
func (s *Space) Len() int { return s.count }

// Add returns a new run without neighbours, which is a separate segment. The
// caller's fields are zero.
func (s *Space) Add(address, bytes uint64) *Node {
	number, n := s.nodes.take()
	*n = Node{Address: address, Bytes: bytes, self: number}
	s.count++
	return n
}

// Append returns a new run after the last run of a segment, which grows by the given
// bytes. The caller's fields are zero. It returns nil if last is not the last run.
func (s *Space) Append(last *Node, bytes uint64) *Node {
	if last.next != 0 {
		return nil
	}
	n := s.Add(last.Address+last.Bytes, bytes)
	n.previous = last.self
	last.next = n.self
	return n
}

// Split divides a run: n keeps the first bytes, and the rest becomes a new run after
// it with the same values in the caller's fields. It returns nil and does not change
// n unless both parts have at least one byte.
func (s *Space) Split(n *Node, bytes uint64) (rest *Node) {
	if bytes == 0 || bytes >= n.Bytes {
		return nil
	}
	number, rest := s.nodes.take()
	*rest = *n
	rest.Address += bytes
	rest.Bytes -= bytes
	rest.self = number
	rest.previous = n.self
	if n.next != 0 {
		s.nodes.at(n.next).previous = number
	}
	n.Bytes = bytes
	n.next = number
	s.count++
	return rest
}

// Join merges the run after n into n and removes its node. The caller's fields of n
// do not change. If no run follows, Join does nothing.
func (s *Space) Join(n *Node) {
	if n.next == 0 {
		return
	}
	taken := s.nodes.at(n.next)
	n.Bytes += taken.Bytes
	n.next = taken.next
	if n.next != 0 {
		s.nodes.at(n.next).previous = n.self
	}
	s.nodes.giveBack(taken.self)
	s.count--
}

// Next returns the run that begins at the end of n, or nil at the end of the
// segment.
func (s *Space) Next(n *Node) *Node {
	if n.next == 0 {
		return nil
	}
	return s.nodes.at(n.next)
}

// Previous returns the run that ends at the start of n, or nil at the start of the
// segment.
func (s *Space) Previous(n *Node) *Node {
	if n.previous == 0 {
		return nil
	}
	return s.nodes.at(n.previous)
}

// Remove removes a run from the space. Its neighbours become ends of two separate
// segments.
func (s *Space) Remove(n *Node) {
	if n.previous != 0 {
		s.nodes.at(n.previous).next = 0
	}
	if n.next != 0 {
		s.nodes.at(n.next).previous = 0
	}
	s.nodes.giveBack(n.self)
	s.count--
}
