package kerneltest

import (
	"math/bits"
	"slices"
	"unsafe"
)

// A copy by cp.async happens when its thread waits for its group, the latest moment that a GPU may choose. Code that
// reads shared memory without waiting therefore finds what was there before.

// asyncCopy is a copy to shared memory that a lane has begun.
type asyncCopy struct {
	lane     int
	group    uint32 // of the lane
	from, to unsafe.Pointer
	address  uint64 // in shared memory
	// size is the number of bytes that are written, of which given ones are read; the others are zeros.
	size, given int
}

// asyncCopies are the copies of a warp.
type asyncCopies struct {
	pending []asyncCopy
	groups  [lanes]uint32 // the number of groups that each lane has committed
}

// copyHandler compiles cp.async and its groups.
func copyHandler(in *ins) {
	if !in.take("async") {
		in.fail("expected .async")
	}
	switch in.oneOf("commit_group", "wait_group", "wait_all", "ca", "cg") {
	case "commit_group":
		in.count(0, 0)
		in.out.operation = commitGroup{}
	case "wait_group":
		in.count(1, 1)
		in.out.operation = waitGroup{most: uint32(in.number(in.arguments[0].number, u32))}
	case "wait_all":
		in.count(0, 0)
		in.out.operation = waitGroup{all: true}
	case "ca", "cg":
		in.count(3, 4)
		if !in.take("shared") || !in.take("global") {
			in.fail("expected .shared.global")
		}
		o := &beginCopy{to: in.address(in.arguments[0], sharedSpace), from: in.address(in.arguments[1], globalSpace)}
		o.size = int(in.number(in.arguments[2].number, u32))
		if o.size != 4 && o.size != 8 && o.size != 16 {
			in.fail("a copy of %d bytes", o.size)
		}
		o.given = constant(uint64(o.size))
		if len(in.arguments) == 4 {
			o.given = in.source(in.arguments[3], u32)
		}
		in.out.operation = o
	default:
		in.fail("expected a copy or a group")
	}
}

type beginCopy struct {
	to, from addressing
	size     int
	given    source
}

//go:norace
func (o *beginCopy) execute(w *warp, mask uint32) {
	to, from, lengths := *o.to.base.read(w), *o.from.base.read(w), *o.given.read(w)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		c := asyncCopy{lane: i, group: w.copies.groups[i], address: o.to.at(&to, i), size: o.size, given: int(uint32(lengths[i]))}
		if c.given > c.size {
			w.fault(i, ErrAddress, "%d bytes of a copy of %d", c.given, c.size)
		}
		c.to = w.at(&o.to, c.address, i, c.size, true)
		if c.given > 0 {
			c.from = w.at(&o.from, o.from.at(&from, i), i, c.size, false)
		}
		w.copies.pending = append(w.copies.pending, c)
	}
}

type commitGroup struct{}

//go:norace
func (commitGroup) execute(w *warp, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		w.copies.groups[bits.TrailingZeros32(m)]++
	}
}

// waitGroup ends the copies of all groups but the latest ones, or all copies.
type waitGroup struct {
	most uint32
	all  bool
}

//go:norace
func (o waitGroup) execute(w *warp, mask uint32) {
	w.copies.pending = slices.DeleteFunc(w.copies.pending, func(c asyncCopy) bool {
		if mask>>c.lane&1 == 0 || !o.all && c.group+o.most >= w.copies.groups[c.lane] {
			return false
		}
		to := unsafe.Slice((*byte)(c.to), c.size)
		if c.given > 0 {
			copy(to, unsafe.Slice((*byte)(c.from), c.given))
		}
		clear(to[c.given:])
		if w.block.shadow != nil {
			w.watch(&addressing{space: sharedSpace}, c.address, c.lane, c.size, writing, false)
		}
		return true
	})
}
