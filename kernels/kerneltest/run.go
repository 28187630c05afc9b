package kerneltest

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Dynamic shared memory has no address until the static part is laid out.
const dynamicShared = math.MaxUint64

// launch is one run of a program.
type launch struct {
	program       *program
	grid, block   [3]uint32
	dynamicShared int
	parameters    []byte
	memory        *spans
	cache         []span // by instruction: the allocation of its last access
	processors    int
	resident      int
	random        *rand.Rand
	steps, budget uint64
	races         bool
	started       uint64 // number of blocks
	total         uint64
	order         func(uint64) uint64
	blocks        []*block
	free          []*block
}

// warp is 32 threads. The active lanes are at pc, all others at their pcs.
type warp struct {
	block      *block
	number     int
	rows       [][lanes]uint64
	predicates []uint32
	carry      uint32
	local      []byte

	live, active uint32
	// collectives and barriers are the masks of the lanes that wait for others.
	collectives, barriers uint32
	pc, next              int32
	pcs                   [lanes]int32
	// current is the instruction that a fault reports.
	current *instruction
	// syncs counts the executions of bar.warp.sync.
	syncs  uint32
	copies asyncCopies
}

func (w *warp) thread(lane int) [3]uint32 {
	n := uint32(w.number*lanes + lane)
	x, y := w.block.launch.block[0], w.block.launch.block[1]
	return [3]uint32{n % x, n / x % y, n / x / y}
}

// fault ends the launch.
func (w *warp) fault(lane int, kind error, format string, arguments ...any) {
	thread := -1
	if lane >= 0 {
		thread = w.number*lanes + lane
	}
	f := &Fault{Kernel: w.block.launch.program.name, Block: w.block.id, Thread: thread, Kind: kind, Detail: fmt.Sprintf(format, arguments...)}
	if w.current != nil {
		f.Line, f.Instruction = w.current.line, w.current.text
	}
	panic(f)
}

func (l *launch) run() (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Fault:
			err = r
		default:
			panic(r)
		}
	}()
	l.cache = make([]span, len(l.program.code))
	l.total = uint64(l.grid[0]) * uint64(l.grid[1]) * uint64(l.grid[2])
	for len(l.blocks) < l.resident && l.started < l.total {
		l.begin(len(l.blocks))
	}
	for len(l.blocks) > 0 {
		l.runWarp()
	}
	return nil
}

// runWarp runs some instructions of one random warp of a block.
//
//go:norace
func (l *launch) runWarp() {
	at := l.random.IntN(len(l.blocks))
	b := l.blocks[at]
	from := l.random.IntN(len(b.warps))
	for i := range b.warps {
		w := b.warps[(from+i)%len(b.warps)]
		if w.ready() {
			w.run(50 + l.random.IntN(400))
			break
		}
	}
	if b.live == 0 {
		last := len(l.blocks) - 1
		l.blocks[at], l.blocks[last] = l.blocks[last], nil
		l.blocks = l.blocks[:last]
		l.free = append(l.free, b)
		if l.started < l.total {
			l.begin(b.processor)
		}
		return
	}
	for _, w := range b.warps {
		if w.ready() {
			return
		}
	}
	// The warps of a block at a barrier wait only for each other.
	l.deadlock(b)
}

func (l *launch) deadlock(b *block) {
	for _, w := range b.warps {
		if w.live == 0 {
			continue
		}
		lane := bits.TrailingZeros32(w.live)
		at := map[int32]uint32{}
		eachLane(w.live, func(lane int) { at[w.pcs[lane]] |= 1 << lane })
		where := ""
		for pc, mask := range at {
			where += fmt.Sprintf("; warp %d lanes %#08x wait at line %d, %q", w.number, mask, l.program.code[pc].line, l.program.code[pc].text)
		}
		w.current = &l.program.code[w.pcs[lane]]
		w.fault(lane, ErrSynchronization, "deadlock: no thread of the block can continue%s", where)
	}
}

// ready reports whether a lane can continue.
//
//go:norace
func (w *warp) ready() bool {
	if w.active != 0 {
		return true
	}
	if w.collectives != 0 {
		w.releaseCollectives()
	}
	return w.live&^(w.collectives|w.barriers) != 0
}

// park saves the position of the active lanes, so that others can be chosen.
//
//go:norace
func (w *warp) park() {
	for m := w.active; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)] = w.pc
	}
	w.active = 0
}

// choose activates the lanes at the lowest position or, if any is true, those at the
// position of a random lane. It returns false if no lane can continue.
//
//go:norace
func (w *warp) choose(any bool) bool {
	ready := w.live &^ (w.collectives | w.barriers)
	if ready == 0 {
		return false
	}
	lowest := int32(math.MaxInt32)
	if any {
		skip := w.block.launch.random.IntN(bits.OnesCount32(ready))
		m := ready
		for range skip {
			m &= m - 1
		}
		lowest = w.pcs[bits.TrailingZeros32(m)]
	} else {
		for m := ready; m != 0; m &= m - 1 {
			lowest = min(lowest, w.pcs[bits.TrailingZeros32(m)])
		}
	}
	w.pc, w.next, w.active = lowest, math.MaxInt32, 0
	for m := ready; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		switch pc := w.pcs[lane]; {
		case pc == lowest:
			w.active |= 1 << lane
		case pc > lowest:
			w.next = min(w.next, pc)
		}
	}
	return true
}

// run executes up to n instructions.
//
//go:norace
func (w *warp) run(n int) {
	l := w.block.launch
	code := l.program.code
	w.park()
	w.releaseCollectives()
	// Sometimes another group than the lowest runs first, because the threads of a warp
	// progress independently.
	if !w.choose(l.random.IntN(4) == 0) {
		return
	}
	for range n {
		l.steps++
		in := &code[w.pc]
		w.current = in
		mask := w.active
		if in.guard >= 0 {
			p := w.predicates[in.guard]
			if in.guardNot {
				p = ^p
			}
			mask &= p
		}
		if in.kind == plain {
			if mask != 0 {
				in.operation.execute(w, mask)
			}
			w.pc++
		} else if mask == 0 {
			w.pc++
		} else if !w.control(in, mask) {
			return
		}
		if w.pc >= w.next {
			w.park()
			w.choose(false)
		}
	}
	if l.steps > l.budget {
		w.fault(bits.TrailingZeros32(w.active), ErrEndless, "the kernel has run %d instructions: it seems not to end", l.steps)
	}
}
