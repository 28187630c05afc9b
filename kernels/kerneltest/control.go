package kerneltest

import (
	"math/bits"
)

// control executes a control instruction for the lanes of mask. It returns false if no
// lane of the warp can continue.
//
//go:norace
func (w *warp) control(in *instruction, mask uint32) bool {
	switch in.kind {
	case branch:
		if mask == w.active {
			w.pc = in.target
			return true
		}
		rest := w.active &^ mask
		w.place(rest, w.pc+1)
		w.place(mask, in.target)
	case indexedBranch:
		rest := w.active &^ mask
		w.place(rest, w.pc+1)
		index := in.index.read(w)
		for m := mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			if index[lane] >= uint64(len(in.targets)) {
				w.fault(lane, ErrAddress, "index %d of %d targets", index[lane], len(in.targets))
			}
			w.pcs[lane] = in.targets[index[lane]]
		}
	case leave:
		w.place(w.active&^mask, w.pc+1)
		w.place(mask, w.pc)
		w.live &^= mask
		w.block.live -= bits.OnesCount32(mask)
		w.block.checkBarriers()
	case collective:
		members := in.members.read(w)
		if mask == w.active && w.uniform(members, mask) && uint32(members[bits.TrailingZeros32(mask)])&w.live == mask {
			in.operation.execute(w, mask)
			w.pc++
			return true
		}
		w.place(w.active&^mask, w.pc+1)
		w.place(mask, w.pc)
		w.collectives |= mask
		w.releaseCollectives()
	case barrierWait:
		w.place(w.active&^mask, w.pc+1)
		w.place(mask, w.pc)
		w.arrive(in, mask)
	}
	w.active = 0
	if w.choose(false) {
		return true
	}
	w.releaseCollectives()
	return w.choose(false)
}

//go:norace
func (w *warp) place(mask uint32, pc int32) {
	for ; mask != 0; mask &= mask - 1 {
		w.pcs[bits.TrailingZeros32(mask)] = pc
	}
}

//go:norace
func (w *warp) uniform(row *[lanes]uint64, mask uint32) bool {
	first := row[bits.TrailingZeros32(mask)]
	for m := mask; m != 0; m &= m - 1 {
		if row[bits.TrailingZeros32(m)] != first {
			return false
		}
	}
	return true
}

// releaseCollectives executes a collective instruction once all its member lanes have
// arrived. Lanes that have ended do not count.
//
//go:norace
func (w *warp) releaseCollectives() {
	for tried := uint32(0); w.collectives&^tried != 0; {
		lane := bits.TrailingZeros32(w.collectives &^ tried)
		pc := w.pcs[lane]
		in := &w.block.launch.program.code[pc]
		w.current = in
		members := in.members.read(w)
		named := uint32(members[lane])
		group := uint32(0)
		for m := w.collectives; m != 0; m &= m - 1 {
			if other := bits.TrailingZeros32(m); w.pcs[other] == pc && uint32(members[other]) == named {
				group |= 1 << other
			}
		}
		if strange := group &^ named; strange != 0 {
			w.fault(bits.TrailingZeros32(strange), ErrSynchronization, "the lane is not in its member mask %#x", named)
		}
		tried |= group
		if named&w.live != group {
			continue
		}
		w.collectives &^= group
		in.operation.execute(w, group)
		w.place(group, pc+1)
	}
}

// barrier is one of the sixteen barriers of a block.
type barrier struct {
	arrived int // threads
	threads int // expected threads; 0: all of the block
	waiting []uint32
	count   int
	or, and bool
}

func (b *barrier) reset(warps int) {
	waiting := b.waiting
	if len(waiting) != warps {
		waiting = make([]uint32, warps)
	}
	clear(waiting)
	*b = barrier{waiting: waiting, and: true}
}

// arrive records that lanes have reached a barrier.
//
//go:norace
func (w *warp) arrive(in *instruction, mask uint32) {
	lane := bits.TrailingZeros32(mask)
	numbers := in.barrier.read(w)
	threads := 0
	if in.hasThreads {
		row := in.threads.read(w)
		if !w.uniform(row, mask) {
			w.fault(lane, ErrSynchronization, "the lanes of a warp differ in the number of threads of the barrier")
		}
		threads = int(uint32(row[lane]))
		if threads == 0 || threads%lanes != 0 {
			w.fault(lane, ErrSynchronization, "a barrier of %d threads: want a multiple of %d", threads, lanes)
		}
	}
	if !w.uniform(numbers, mask) || numbers[lane] > 15 {
		w.fault(lane, ErrSynchronization, "the barrier's number is %d: it must be at most 15 and equal in all lanes of a warp", numbers[lane])
	}
	b := &w.block.barriers[numbers[lane]]
	if b.arrived > 0 && b.threads != threads {
		w.fault(lane, ErrSynchronization, "a barrier of %d threads, but other threads wait at it with %d", threads, b.threads)
	}
	b.threads = threads
	b.arrived += bits.OnesCount32(mask)
	if in.reduce != noReduction {
		value := in.value.read(w)
		b.count += bits.OnesCount32(value & mask)
		b.or = b.or || value&mask != 0
		b.and = b.and && ^value&mask == 0
	}
	if in.arrive {
		w.place(mask, w.pcs[lane]+1)
	} else {
		b.waiting[w.number] |= mask
		w.barriers |= mask
	}
	w.block.checkBarrier(b)
}

//go:norace
func (b *block) checkBarriers() {
	for i := range b.barriers {
		if b.barriers[i].arrived > 0 {
			b.checkBarrier(&b.barriers[i])
		}
	}
}

// checkBarrier releases the threads of a barrier once all have arrived. Threads that
// have ended do not count.
//
//go:norace
func (b *block) checkBarrier(at *barrier) {
	expected := at.threads
	if expected == 0 {
		expected = b.live
	}
	if at.arrived < expected {
		return
	}
	if at.arrived > expected {
		for i, mask := range at.waiting {
			if mask != 0 {
				b.warps[i].fault(-1, ErrSynchronization, "%d threads are at a barrier of %d", at.arrived, expected)
			}
		}
	}
	for i, mask := range at.waiting {
		if mask != 0 {
			b.warps[i].pass(at, mask)
		}
	}
	at.reset(len(b.warps))
	b.epoch++
}

// pass lets lanes continue past a barrier.
//
//go:norace
func (w *warp) pass(at *barrier, mask uint32) {
	w.barriers &^= mask
	first := w.pcs[bits.TrailingZeros32(mask)]
	code := w.block.launch.program.code
	for m := mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		in := &code[w.pcs[lane]]
		if in.aligned && (w.pcs[lane] != first || mask != w.live) {
			w.current = in
			w.fault(lane, ErrSynchronization, "the lanes of a warp execute different bar.sync instructions: all must execute the same one")
		}
		switch in.reduce {
		case countReduction:
			in.result(w, lane, uint32(at.count))
		case andReduction:
			in.result(w, lane, truth(at.and))
		case orReduction:
			in.result(w, lane, truth(at.or))
		}
		w.pcs[lane]++
	}
}

func truth(yes bool) uint32 {
	if yes {
		return 1
	}
	return 0
}
