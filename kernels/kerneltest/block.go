package kerneltest

import "math"

// block is a resident block.
type block struct {
	launch    *launch
	id        [3]uint32
	processor int
	shared    []byte
	dynamicAt int
	all       []*warp // that were created
	warps     []*warp // of the launch
	live      int     // threads
	barriers  [16]barrier
	epoch     uint32
	shadow    []sharedWord
}

// begin makes the next block resident.
//
//go:norace
func (l *launch) begin(processor int) {
	n := l.order(l.started)
	l.started++
	threads := int(l.block[0] * l.block[1] * l.block[2])
	var b *block
	if k := len(l.free); k > 0 {
		b = l.free[k-1]
		l.free = l.free[:k-1]
	} else {
		b = &block{}
	}
	b.fit(l, (threads+lanes-1)/lanes)
	b.processor = processor % l.processors
	b.id = [3]uint32{uint32(n % uint64(l.grid[0])), uint32(n / uint64(l.grid[0]) % uint64(l.grid[1])), uint32(n / uint64(l.grid[0]) / uint64(l.grid[1]))}
	b.live = threads
	b.epoch++
	for i := range b.barriers {
		b.barriers[i].reset(len(b.warps))
	}
	fillUndefined(b.shared)
	for i, w := range b.warps {
		w.start(min(threads-i*lanes, lanes))
	}
	l.blocks = append(l.blocks, b)
}

// fit gives a block the memory that a launch needs. Memory of an earlier launch is used
// again; the epoch tells entries of its shadow apart.
//
//go:norace
func (b *block) fit(l *launch, warps int) {
	b.launch = l
	b.dynamicAt = roundUp(l.program.staticShared, 16)
	b.shared = resized(b.shared, b.dynamicAt+l.dynamicShared)
	if l.races {
		b.shadow = resized(b.shadow, (len(b.shared)+3)/4)
	}
	for len(b.all) < warps {
		b.all = append(b.all, &warp{block: b, number: len(b.all)})
	}
	b.warps = b.all[:warps]
	for _, w := range b.warps {
		w.rows = resized(w.rows, l.program.rows)
		w.predicates = resized(w.predicates, l.program.predicateRows)
		w.local = resized(w.local, lanes*l.program.localBytes)
	}
}

// resized returns a slice of a length, in the memory of another one if it is large enough.
func resized[T any](s []T, length int) []T {
	if cap(s) < length {
		return make([]T, length, length+length/8)
	}
	return s[:length]
}

// undefinedByte fills memory and registers with undefined contents.
const undefinedByte = 0xa5

//go:norace
func fillUndefined(memory []byte) {
	for i := range min(len(memory), 256) {
		memory[i] = undefinedByte
	}
	for done := 256; done < len(memory); done *= 2 {
		copy(memory[done:], memory[:done])
	}
}

const undefinedWord = 0xa5a5a5a5a5a5a5a5

//go:norace
func (w *warp) start(threads int) {
	var undefined [lanes]uint64
	for i := range undefined {
		undefined[i] = undefinedWord
	}
	for _, row := range w.block.launch.program.undefined {
		w.rows[row] = undefined
	}
	for i := range w.predicates {
		w.predicates[i] = undefinedWord & 0xffffffff
	}
	fillUndefined(w.local)
	for _, s := range w.block.launch.program.fill {
		for lane := range lanes {
			w.rows[s.row][lane] = s.value(w, lane)
		}
	}
	w.live = uint32(1<<threads - 1)
	w.active, w.collectives, w.barriers, w.carry, w.syncs = w.live, 0, 0, 0, 0
	w.pc, w.next = 0, math.MaxInt32
	w.pcs = [lanes]int32{}
	w.copies = asyncCopies{pending: w.copies.pending[:0]}
}
