package vector

// heap is the nearest rows of a query: the farthest of them is the first element. Of equal keys the greater index is
// farther.
type heap struct {
	indices []int64
	keys    []float32
	count   int
}

// takes reports whether a row after all others with a key is one of the nearest. NaN is not.
func (h *heap) takes(key float32) bool {
	if h.count < len(h.keys) {
		return key == key
	}
	return h.count > 0 && key < h.keys[0]
}

// push adds a row. If the heap is full, the farthest row leaves it.
func (h *heap) push(key float32, index int64) {
	if h.count == len(h.keys) {
		if h.count > 0 && farther(h.keys[0], h.indices[0], key, index) {
			h.keys[0], h.indices[0] = key, index
			h.sink(h.count)
		}
		return
	}
	i := h.count
	h.count++
	for i > 0 {
		parent := (i - 1) / 2
		if !farther(key, index, h.keys[parent], h.indices[parent]) {
			break
		}
		h.keys[i], h.indices[i] = h.keys[parent], h.indices[parent]
		i = parent
	}
	h.keys[i], h.indices[i] = key, index
}

// sink moves the first element of the first n down to its place.
func (h *heap) sink(n int) {
	i, key, index := 0, h.keys[0], h.indices[0]
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && farther(h.keys[child+1], h.indices[child+1], h.keys[child], h.indices[child]) {
			child++
		}
		if !farther(h.keys[child], h.indices[child], key, index) {
			break
		}
		h.keys[i], h.indices[i] = h.keys[child], h.indices[child]
		i = child
	}
	h.keys[i], h.indices[i] = key, index
}

// sort orders the rows from the nearest one on. They are no heap afterwards.
func (h *heap) sort() {
	for n := h.count - 1; n > 0; n-- {
		h.keys[0], h.keys[n] = h.keys[n], h.keys[0]
		h.indices[0], h.indices[n] = h.indices[n], h.indices[0]
		h.sink(n)
	}
}

// farther reports whether a row is farther than another.
func farther(key float32, index int64, other float32, otherIndex int64) bool {
	return key > other || key == other && index > otherIndex
}
