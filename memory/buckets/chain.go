package buckets

// chain is an intrusive doubly linked list: its elements contain the links, so that
// adding and removing them allocates nothing. Most chains are in order of age, the
// oldest first.
type chain[N any] struct {
	head, tail *link[N]
}

// link is the membership of one element in one chain at a time.
type link[N any] struct {
	element        *N
	previous, next *link[N]
}

func (h *chain[N]) first() *N { return h.head.thing() }

func (h *chain[N]) last() *N { return h.tail.thing() }

func (l *link[N]) thing() *N {
	if l == nil {
		return nil
	}
	return l.element
}

func (h *chain[N]) append(l *link[N]) {
	l.previous, l.next = h.tail, nil
	if h.tail == nil {
		h.head = l
	} else {
		h.tail.next = l
	}
	h.tail = l
}

func (h *chain[N]) prepend(l *link[N]) {
	l.previous, l.next = nil, h.head
	if h.head == nil {
		h.tail = l
	} else {
		h.head.previous = l
	}
	h.head = l
}

func (h *chain[N]) remove(l *link[N]) {
	if l.previous == nil {
		h.head = l.next
	} else {
		l.previous.next = l.next
	}
	if l.next == nil {
		h.tail = l.previous
	} else {
		l.next.previous = l.previous
	}
	l.previous, l.next = nil, nil
}

// examined is the number of elements that search examines. Memory that one stream freed
// first also becomes idle first, so examining more seldom helps.
const examined = 4

// search returns the first of the foremost elements that will accepts, or nil.
func (h *chain[N]) search(will func(*N) bool) *N {
	l := h.head
	for range examined {
		if l == nil {
			break
		}
		if will(l.element) {
			return l.element
		}
		l = l.next
	}
	return nil
}
