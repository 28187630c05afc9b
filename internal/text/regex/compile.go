package regex

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// The limits of an automaton.
const (
	mostTransitions = 1 << 17
	mostWork        = 1<<16 - 1
	// MostRegisters is the limit of the registers of all threads, which a kernel has in
	// the memory of each of its threads.
	MostRegisters = 128
	// mostGroups is the limit of groups with positions: their registers are bits of leaf.sets.
	mostGroups = 31
	// mostSteps limits the time of the compilation.
	mostSteps = 20_000_000
	// matchSteps is the time to compare a character with an instruction.
	matchSteps = 4
)

// Options choose what a program reports.
type Options struct {
	// Positions makes programs that find matches. Otherwise they only report whether a
	// match exists.
	Positions bool
	// Groups are the groups with positions in the result. Group 0, the whole match, always
	// has them.
	Groups []int
}

// parse parses a pattern and counts its instructions.
func parse(pattern string) (*syntax.Regexp, error) {
	if len(pattern) > mostBytes {
		return nil, &Error{Pattern: pattern, Reason: fmt.Errorf("more than %d bytes: %w", mostBytes, ErrTooLarge)}
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, refused(pattern, err)
	}
	if err := checkSize(parsed); err != nil {
		return nil, &Error{Pattern: pattern, Reason: err}
	}
	return parsed, nil
}

// Check parses a pattern, which takes less time than to compile it, and returns the number of its
// groups. The error is an [*Error].
func Check(pattern string) (groups int, err error) {
	parsed, err := parse(pattern)
	if err != nil {
		return 0, err
	}
	return parsed.MaxCap(), nil
}

// Compile compiles a pattern. The error is an [*Error], or that of a context that is done.
func Compile(ctx context.Context, pattern string, options Options) (*Program, error) {
	parsed, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	groups, names := parsed.MaxCap(), parsed.CapNames()
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, refused(pattern, err)
	}
	b := &builder{ctx: ctx, prog: prog, options: options, states: map[string]uint16{}, works: map[string]uint32{}}
	err = b.build()
	if ctx.Err() != nil {
		return nil, cancel.Error(ctx)
	}
	if err != nil {
		return nil, &Error{Pattern: pattern, Reason: err}
	}
	b.groups, b.names = groups, names
	return &b.Program, nil
}

// state is a list of threads, the first one with the highest priority.
type state struct {
	// threads are instructions. fresh is true if the last one begins at this position.
	threads []uint32
	fresh   bool
	// matched is true if there is a match already, so no further thread begins.
	matched bool
	before  kind
}

func (s *state) key() string {
	key := []byte{byte(s.before), 0}
	if s.fresh {
		key[1] |= 1
	}
	if s.matched {
		key[1] |= 2
	}
	for _, pc := range s.threads {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	return string(key)
}

// leaf is an instruction that takes a character, or a match, that a thread reaches without
// one. sets are the registers of the thread that are set on the way, as bits.
type leaf struct {
	pc, thread uint32
	fresh      bool
	sets       uint64
}

// builder builds a program.
type builder struct {
	Program
	ctx     context.Context
	prog    *syntax.Prog
	options Options
	classes *classes
	// asserted are the kinds of neighbouring characters that make a difference.
	asserted assertions
	// anchored is true if a match can only begin at the beginning of the text.
	anchored bool
	states   map[string]uint16
	queue    []state
	works    map[string]uint32
	steps    int
	// leaves and visited are those of one position.
	leaves  []leaf
	visited []bool
}

func (b *builder) build() (err error) {
	b.asserted = assertionsOf(b.prog)
	if b.classes, err = classesOf(b.ctx, b.prog, b.asserted); err != nil {
		return err
	}
	b.anchored = b.prog.StartCond()&syntax.EmptyBeginText != 0
	b.visited = make([]bool, len(b.prog.Inst))
	b.Stride = len(b.classes.samples) + 1
	b.Work = []uint16{0}
	if b.options.Positions {
		b.PerThread = 1 + 2*len(b.options.Groups)
		if len(b.options.Groups) > mostGroups {
			return fmt.Errorf("the positions of more than %d groups: %w", mostGroups, ErrTooLarge)
		}
	}
	for r := range b.ASCII {
		b.ASCII[r], b.Kinds[r] = b.classes.class(rune(r)), uint8(b.asserted.kindOf(rune(r)))
	}
	for i, start := range b.classes.starts {
		b.RangeStarts, b.RangeClasses = append(b.RangeStarts, uint32(start)), append(b.RangeClasses, b.classes.numbers[i])
	}
	b.Transitions = make([]uint32, 2*b.Stride)
	for i := range b.Stride {
		b.Transitions[b.Stride+i] = Accepting
	}
	b.queue = make([]state, 2) // the states Dead and Accepting have no threads
	for k := range b.Starts {
		start := state{before: b.asserted.kind(kind(k))}
		if !b.anchored || kind(k) == edge {
			start.threads, start.fresh = []uint32{uint32(b.prog.Start)}, true
		}
		if b.Starts[k], err = b.number(start); err != nil {
			return err
		}
	}
	for at := 2; at < len(b.queue); at++ {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		for class := range b.Stride {
			transition, err := b.transition(b.queue[at], class)
			if err != nil {
				return err
			}
			b.Transitions[at*b.Stride+class] = transition
		}
	}
	return nil
}

// number returns the number of a state.
func (b *builder) number(s state) (uint16, error) {
	if len(s.threads) == 0 && (s.matched || b.anchored) {
		return Dead, nil
	}
	key := s.key()
	if known, ok := b.states[key]; ok {
		return known, nil
	}
	n := len(b.queue)
	if (n+1)*b.Stride > mostTransitions || n >= 1<<16 {
		return 0, fmt.Errorf("more than %d states of %d classes of characters: %w", n, b.Stride, ErrTooLarge)
	}
	if b.Threads = max(b.Threads, len(s.threads)); b.Threads*b.PerThread > MostRegisters {
		return 0, fmt.Errorf("more than %d positions have to be kept at a time: %w", MostRegisters, ErrTooLarge)
	}
	b.states[key] = uint16(n)
	b.queue = append(b.queue, s)
	b.Transitions = append(b.Transitions, make([]uint32, b.Stride)...)
	return uint16(n), nil
}

// transition computes the state behind a character, and the work on the registers.
func (b *builder) transition(from state, class int) (uint32, error) {
	end := class == b.Stride-1
	next, after := rune(-1), other
	if !end {
		next = b.classes.samples[class]
		after = b.asserted.kindOf(next)
	}
	context := next
	if !end {
		context = after.sample()
	}
	if err := b.close(from, syntax.EmptyOpContext(from.before.sample(), context)); err != nil {
		return 0, err
	}
	to := state{matched: from.matched, before: after}
	var w work
	reached := map[uint32]bool{}
	for _, l := range b.leaves {
		inst := &b.prog.Inst[l.pc]
		if inst.Op == syntax.InstMatch {
			if b.PerThread == 0 {
				return Accepting, nil
			}
			to.matched, w.matched, w.match = true, true, l
			break // threads of lower priority end
		}
		b.steps += matchSteps
		if end || reached[inst.Out] || !takes(inst, next) {
			continue
		}
		reached[inst.Out] = true
		to.threads = append(to.threads, inst.Out)
		w.threads = append(w.threads, l)
	}
	if !end && !to.matched && !b.anchored && !reached[uint32(b.prog.Start)] {
		to.threads, to.fresh = append(to.threads, uint32(b.prog.Start)), true
	}
	if b.PerThread == 0 {
		// Only whether there is a match counts, so the order of threads does not.
		slices.Sort(to.threads)
		to.fresh = false
	}
	number := uint16(Dead)
	var err error
	if !end {
		if number, err = b.number(to); err != nil {
			return 0, err
		}
	}
	place, err := b.place(w.words(b.PerThread))
	return uint32(number) | place<<16, err
}

// close finds the leaves of a state under the assertions that hold.
func (b *builder) close(s state, holds syntax.EmptyOp) error {
	clear(b.visited)
	b.steps += len(b.visited) / 64
	b.leaves = b.leaves[:0]
	for i, pc := range s.threads {
		l := leaf{thread: uint32(i)}
		if s.fresh && i == len(s.threads)-1 {
			l.fresh, l.sets = true, 1
		}
		b.follow(pc, l, holds)
	}
	if b.steps > mostSteps {
		return fmt.Errorf("it takes more than %d steps to make: %w", mostSteps, ErrTooLarge)
	}
	return nil
}

// follow follows the instructions that take no character, in the order of package regexp.
func (b *builder) follow(pc uint32, l leaf, holds syntax.EmptyOp) {
	for !b.visited[pc] {
		b.visited[pc] = true
		b.steps++
		inst := &b.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			b.follow(inst.Out, l, holds)
			pc = inst.Arg
			continue
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^holds != 0 {
				return
			}
		case syntax.InstCapture:
			if at := slices.Index(b.options.Groups, int(inst.Arg/2)); at >= 0 && b.PerThread > 0 {
				l.sets |= 1 << (1 + 2*at + int(inst.Arg%2))
			}
		case syntax.InstNop:
		case syntax.InstFail:
			return
		default:
			l.pc = pc
			b.leaves = append(b.leaves, l)
			return
		}
		pc = inst.Out
	}
}

// place returns the place of the work of a transition.
func (b *builder) place(words []uint16) (uint32, error) {
	if len(words) == 0 {
		return 0, nil
	}
	key := fmt.Sprint(words)
	if known, ok := b.works[key]; ok {
		return known, nil
	}
	place := len(b.Work)
	if place > mostWork {
		return 0, fmt.Errorf("its transitions take more than %d words: %w", mostWork, ErrTooLarge)
	}
	b.Work = append(b.Work, words...)
	b.works[key] = uint32(place)
	return uint32(place), nil
}
