package kerneltest

import (
	"cmp"
	"math/bits"
	"slices"
)

// PTX has a register for each value, thousands in a large kernel. Registers that are never
// live at the same time share a row of a warp, by linear scan (Poletto and Sarkar, Linear
// Scan Register Allocation, 1999): a block then needs a few hundred kilobytes, and starting
// it little time. A kernel is compiled twice: first with a row for each register, to find
// where they are live, then with the shared rows.

// registerUse are the registers that an instruction reads and writes.
type registerUse struct{ reads, writes []int32 }

// assignment maps the registers of a kernel, in the order of their first occurrence, to rows.
type assignment struct {
	rows  []int32
	count int
	// undefined are the rows of registers that a path may read before it has written them.
	undefined []int32
}

// assignRows assigns rows to the n registers of a program. The special ones have their values
// from the start.
func assignRows(code []instruction, uses []registerUse, n int, special []specialRow) assignment {
	lives := findLives(code, uses, n, special)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(lives.first[a], lives.first[b]) })
	result := assignment{rows: make([]int32, n)}
	var free []int32
	var active []int32 // registers by the end of their lives
	for _, register := range order {
		for len(active) > 0 && lives.last[active[0]] < lives.first[register] {
			free = append(free, result.rows[active[0]])
			active = active[1:]
		}
		var row int32
		if k := len(free); k > 0 {
			row, free = free[k-1], free[:k-1]
		} else {
			row = int32(result.count)
			result.count++
		}
		result.rows[register] = row
		at, _ := slices.BinarySearchFunc(active, lives.last[register], func(other, last int32) int { return cmp.Compare(lives.last[other], last) })
		active = slices.Insert(active, at, register)
	}
	for _, register := range lives.undefined {
		result.undefined = append(result.undefined, result.rows[register])
	}
	return result
}

// lives are the instructions from the first to the last one at which each register is live.
type lives struct {
	first, last []int32
	undefined   []int32
}

func (l *lives) extend(register int32, at int) {
	l.first[register] = min(l.first[register], int32(at))
	l.last[register] = max(l.last[register], int32(at))
}

// findLives solves the equations of live registers over the basic blocks of the code. An
// instruction with a guard may leave what it writes as it was.
func findLives(code []instruction, uses []registerUse, n int, special []specialRow) *lives {
	l := &lives{first: make([]int32, n), last: make([]int32, n)}
	for i := range l.first {
		l.first[i], l.last[i] = int32(len(code)), -1
	}
	blocks := basicBlocks(code)
	liveIn := make([]registerSet, len(blocks))
	for i := range liveIn {
		liveIn[i] = newRegisterSet(n)
	}
	starts := make(map[int32]int, len(blocks))
	for i, b := range blocks {
		starts[b.from] = i
	}
	live := newRegisterSet(n)
	// visit computes the set before a block from those after it, and passes each
	// instruction's set to see.
	visit := func(b basicBlock, see func(at int, after registerSet)) {
		clear(live)
		for _, next := range b.next {
			live.union(liveIn[starts[next]])
		}
		for at := int(b.to) - 1; at >= int(b.from); at-- {
			see(at, live)
			if code[at].guard < 0 {
				for _, register := range uses[at].writes {
					live.remove(register)
				}
			}
			for _, register := range uses[at].reads {
				live.add(register)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(blocks) - 1; i >= 0; i-- {
			visit(blocks[i], func(int, registerSet) {})
			changed = liveIn[i].union(live) || changed
		}
	}
	for _, b := range blocks {
		visit(b, func(at int, after registerSet) {
			after.each(func(register int32) { l.extend(register, at) })
			for _, register := range uses[at].writes {
				l.extend(register, at)
			}
			for _, register := range uses[at].reads {
				l.extend(register, at)
			}
		})
		live.each(func(register int32) { l.extend(register, int(b.from)) })
	}
	set := newRegisterSet(n)
	for _, s := range special {
		set.add(s.row)
		l.first[s.row] = 0
	}
	if len(liveIn) > 0 {
		liveIn[0].each(func(register int32) {
			if !set.has(register) {
				l.undefined = append(l.undefined, register)
			}
		})
	}
	return l
}

// basicBlock is code that is entered at its first instruction only, and left at its last one.
type basicBlock struct {
	from, to int32
	next     []int32 // the first instructions of the blocks that may follow
}

func basicBlocks(code []instruction) []basicBlock {
	isFirst := make([]bool, len(code)+1)
	isFirst[0] = true
	for i := range code {
		for _, target := range code[i].successors() {
			isFirst[target] = true
		}
		if code[i].jumps() {
			isFirst[i+1] = true
		}
	}
	var blocks []basicBlock
	for i := 0; i < len(code); {
		from := i
		for i++; i < len(code) && !isFirst[i]; i++ {
		}
		b := basicBlock{from: int32(from), to: int32(i), next: code[i-1].successors()}
		if falls := !code[i-1].jumps() || code[i-1].guard >= 0; falls && i < len(code) {
			b.next = append(slices.Clip(b.next), int32(i))
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// jumps reports whether the next instruction does not follow, unless a guard is false.
func (i *instruction) jumps() bool {
	return i.kind == branch || i.kind == indexedBranch || i.kind == leave
}

// successors returns the targets of a jump.
func (i *instruction) successors() []int32 {
	switch i.kind {
	case branch:
		return []int32{i.target}
	case indexedBranch:
		return i.targets
	}
	return nil
}

// registerSet is a set of registers, as bits.
type registerSet []uint64

func newRegisterSet(n int) registerSet { return make(registerSet, (n+63)/64) }

func (s registerSet) add(register int32)      { s[register/64] |= 1 << (register % 64) }
func (s registerSet) remove(register int32)   { s[register/64] &^= 1 << (register % 64) }
func (s registerSet) has(register int32) bool { return s[register/64]>>(register%64)&1 != 0 }

// union adds another set and reports whether it had other members.
func (s registerSet) union(other registerSet) (grown bool) {
	for i, word := range other {
		grown = grown || word&^s[i] != 0
		s[i] |= word
	}
	return grown
}

func (s registerSet) each(do func(register int32)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			do(int32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}
