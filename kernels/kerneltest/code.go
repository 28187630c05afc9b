package kerneltest

// lanes is the number of threads of a warp.
const lanes = 32

const everyLane = ^uint32(0)

// operation computes one instruction for the lanes of a mask, which is not empty.
type operation interface{ execute(w *warp, mask uint32) }

// step is the operation of an instruction that is rare.
type step func(w *warp, mask uint32)

func (s step) execute(w *warp, mask uint32) { s(w, mask) }

type instructionKind uint8

const (
	plain instructionKind = iota
	branch
	indexedBranch
	leave
	// collective instructions wait for the lanes of a mask.
	collective
	barrierWait
)

// instruction is one resolved instruction of a program.
type instruction struct {
	kind      instructionKind
	guardNot  bool
	guard     int32 // predicate row; −1 if unconditional
	target    int32
	line      int
	text      string
	operation operation

	// The member mask of a collective; the number and threads of a barrierWait.
	members         source
	barrier         source
	threads         source // row −1: all threads of the block
	hasThreads      bool
	arrive, aligned bool
	reduce          reduction
	value           predicate
	result          func(w *warp, lane int, value uint32)
	index           source
	targets         []int32
}

// reduction is the operation that a barrier applies to a predicate.
type reduction uint8

const (
	noReduction reduction = iota
	countReduction
	andReduction
	orReduction
)

// source is a read operand: a row of registers, or one value for all lanes.
type source struct {
	row   int32
	value *[lanes]uint64
}

func constant(x uint64) source {
	row := new([lanes]uint64)
	for i := range row {
		row[i] = x
	}
	return source{value: row}
}

func (s source) read(w *warp) *[lanes]uint64 {
	if s.value != nil {
		return s.value
	}
	return &w.rows[s.row]
}

// predicate is a read predicate operand. Row −1 is a constant.
type predicate struct {
	row   int32
	not   bool
	value uint32
}

func (p predicate) read(w *warp) uint32 {
	m := p.value
	if p.row >= 0 {
		m = w.predicates[p.row]
	}
	if p.not {
		m = ^m
	}
	return m
}

// program is an executable kernel with its called functions inlined.
type program struct {
	name           string
	code           []instruction
	rows           int
	undefined      []int32 // rows that may be read before they are written
	predicateRows  int
	fill           []specialRow
	parameters     []placed
	parameterBytes int
	staticShared   int
	usesDynamic    bool
	localBytes     int
	maxThreads     int
	required       [3]int
	version        string
}

// placed is a parameter in the kernel's parameter space.
type placed struct {
	offset, bytes int
}

// specialRow is a row that holds a special register from the start.
type specialRow struct {
	row   int32
	value func(w *warp, lane int) uint64
}
