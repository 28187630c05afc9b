package regex

// Program is an automaton. It is immutable.
type Program struct {
	// ASCII has the classes of the characters below 128, and Kinds their kinds.
	ASCII, Kinds [128]uint8
	// RangeStarts and RangeClasses are the classes of all characters: a range ends before
	// the next one.
	RangeStarts  []uint32
	RangeClasses []uint8
	// Stride is the number of classes. The last one is the end of the text.
	Stride int
	// Starts are the states of a search by the kind of the character before it.
	Starts [kinds]uint16
	// Transitions are those of state 0, then of state 1, and so on, by class. The low 16
	// bits are the next state, the high ones the place of the work in Work, or 0.
	Transitions []uint32
	// Work has the moves of registers by transitions: see [Registers.work].
	Work []uint16
	// PerThread is the number of registers of a thread, Threads the greatest number of
	// threads of a state. A program without positions has no registers.
	PerThread, Threads int
	// groups is the number of groups of the pattern, names their names.
	groups int
	names  []string
}

// The states that end a search.
const (
	// Dead is the state without threads.
	Dead = 0
	// Accepting is the state behind a match, in programs without positions.
	Accepting = 1
)

// None is the position of a group that takes no part in a match.
const None = ^uint32(0)

// States returns the number of states.
func (p *Program) States() int { return len(p.Transitions) / p.Stride }

// Groups returns the number of groups of the pattern, without the whole match.
func (p *Program) Groups() int { return p.groups }
