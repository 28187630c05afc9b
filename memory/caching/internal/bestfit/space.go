package bestfit

// Space owns runs of address space. Its zero value is empty and ready for use.
// Memory that held runs is kept for further ones. A Space and the sets of its
// nodes are not safe for concurrent use.
//
// A node must not be in a set while it is split, joined or removed, and must
// not be used after Remove, or Join with the node before it, has taken it away.
type Space struct {
	nodes slabs[Node]
	pages pages
	count int
}

// Len returns the number of runs.
func (s *Space) Len() int { return s.count }

// Add returns a new run without neighbours: a segment of its own. The caller's
// fields are zero.
func (s *Space) Add(address, bytes uint64) *Node {
	number, n := s.nodes.take()
	*n = Node{Address: address, Bytes: bytes, self: number}
	s.count++
	return n
}

// Append returns a new run that follows the last one of a segment, which grows
// by bytes. The caller's fields are zero. It returns nil if last has a
// neighbour after it.
func (s *Space) Append(last *Node, bytes uint64) *Node {
	if last.next != 0 {
		return nil
	}
	n := s.Add(last.Address+last.Bytes, bytes)
	n.previous = last.self
	last.next = n.self
	return n
}

// Split divides a run: n keeps the first bytes, and the rest becomes a new run
// after it with the same values in the caller's fields. It returns nil, and
// leaves n as it is, unless both parts have at least one byte.
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

// Join adds the run after n to n and takes that node away. The caller's fields
// of n stay as they are. Without a run after it n stays the same.
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

// Next returns the run that begins where n ends, nil at the segment's end.
func (s *Space) Next(n *Node) *Node {
	if n.next == 0 {
		return nil
	}
	return s.nodes.at(n.next)
}

// Previous returns the run that ends where n begins, nil at the segment's start.
func (s *Space) Previous(n *Node) *Node {
	if n.previous == 0 {
		return nil
	}
	return s.nodes.at(n.previous)
}

// Remove takes a run out of the space. It leaves a hole: the segment ends before
// it, and what came after it is a segment of its own.
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
