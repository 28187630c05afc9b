package reduce

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/internal/codegen"
	"github.com/gpuframe/gpuframe/kernels/internal/combine"
	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

const (
	kernelName = "reduce"
	// maxCounters is how many streams have a counter in the module, of four bytes.
	maxCounters = 1024
	// resultStride is how far apart the results lie, and validityOffset how far behind
	// a value its validity, in bytes: what buffers of a column are aligned to.
	resultStride, validityOffset = 512, 256
)

// The words of the kernel's parameter "own".
const (
	ownRows     = 8 * iota // address of the number of rows, or null
	ownCapacity            // the most rows there are
	ownResults             // address of the results
	ownScratch             // address of the parts' partials, unused by a single block
	ownCounter             // number of a counter of the module, or the address of one
	ownBytes
)

// writer writes the kernel of a plan.
//
// Each block reduces one part of the rows; the one that finishes last merges what
// all of them found and makes the results. Which one that is depends on timing, but
// nothing of what it computes does.
type writer struct {
	plan *plan
	g    *codegen.Generator
	b    *ptx.Builder

	// lanes and partials are those of the plan's states, accumulated and kinds those
	// of the states that have to be accumulated: a count of all rows is known.
	lanes       []*combine.Lane
	partials    [][]ptx.Register
	kinds       []combine.Kind
	accumulated [][]ptx.Register

	n, thread, thread64, block, blocks ptx.Register
	// begin and end are the rows of the block's part.
	begin, end ptx.Register
	// rowsOfPart is how many rows a part has.
	rowsOfPart ptx.Register
	// rows of a lane at a time.
	rows int
}

// lightOperations is up to how many operations a row the registers are limited, so
// that lightBlocks blocks fit on a multiprocessor: loading in one then goes on while
// another merges. More would spill.
const (
	lightOperations = 12
	lightBlocks     = 5
)

// writeKernel writes a module with the kernel, and returns how many words the
// partials of a part have.
func writeKernel(p *plan, g *codegen.Generator, program *tree.Program) (text string, words int, err error) {
	w := &writer{plan: p, g: g, b: ptx.New("k"), lanes: make([]*combine.Lane, len(p.states))}
	w.b.Emit(".shared .align 4 .b32 arrived")
	w.partition()
	known, err := w.known()
	if err != nil {
		return "", 0, err
	}
	for i, s := range p.states {
		if !known[i] {
			w.kinds = append(w.kinds, s.kind)
			w.lanes[i] = combine.NewLane(w.b, s.kind, s.form)
		}
	}
	words = combine.Words(w.kinds)
	operations := len(program.Nodes) + 2*words
	w.rows = rowsOfLane(program, operations)
	w.b.Emit(".shared .align 8 .b8 merging[%d]", max(combine.SharedBytes(w.kinds), 8))
	if err := w.accumulate(); err != nil {
		return "", 0, err
	}
	w.merge()
	blocks := 0
	if operations <= lightOperations {
		blocks = lightBlocks
	}
	return ptx.Module(
		fmt.Sprintf(".global .align 4 .b8 counters[%d];\n", 4*maxCounters),
		g.Functions(),
		ptx.Kernel{Name: kernelName, Threads: lanes, Blocks: blocks, Body: w.b, Parameters: []ptx.Parameter{
			{Name: "own", Bytes: ownBytes, Struct: true},
			{Name: "arguments", Bytes: 8 * g.Words(), Struct: true},
		}}.String()), words, nil
}

// known returns which states count all rows.
func (w *writer) known() ([]bool, error) {
	values, err := w.g.Strided(ptx.New("unused"), "0", 1, lanes)
	if err != nil {
		return nil, err
	}
	known := make([]bool, len(w.plan.states))
	for i, s := range w.plan.states {
		known[i] = s.kind == combine.Count && s.where < 0 && (s.value < 0 || w.valid(values[0][s.value]) == "")
	}
	return known, nil
}

func (w *writer) own(offset int) ptx.Register {
	return w.b.Op(ptx.Word64, "ld.param.u64", ptx.Register(fmt.Sprintf("[own+%d]", offset)))
}

func number(n int) ptx.Register { return ptx.Register(fmt.Sprint(n)) }

// partition finds the rows of the block.
func (w *writer) partition() {
	b := w.b
	w.n = w.own(ownCapacity)
	rows := w.own(ownRows)
	known := b.Label()
	b.Branch(b.Op(ptx.Predicate, "setp.eq.u64", rows, "0"), known)
	counted := b.Op(ptx.Word64, "ld.global.s64", "["+rows+"]")
	b.Move("min.s64", w.n, w.n, b.Op(ptx.Word64, "max.s64", counted, "0"))
	b.Place(known)

	w.thread = b.Op(ptx.Word32, "mov.u32", "%tid.x")
	w.thread64 = b.Op(ptx.Word64, "cvt.u64.u32", w.thread)
	w.block = b.Op(ptx.Word32, "mov.u32", "%ctaid.x")
	w.blocks = b.Op(ptx.Word32, "mov.u32", "%nctaid.x")
	units := b.Op(ptx.Word64, "shr.u64", b.Op(ptx.Word64, "add.s64", w.n, number(leastPart*mostParts-1)), number(leastPartShift+mostPartsShift))
	w.rowsOfPart = b.Op(ptx.Word64, "shl.b64", b.Op(ptx.Word64, "max.u64", units, "1"), number(leastPartShift))
	w.begin = b.Op(ptx.Word64, "mul.lo.u64", w.rowsOfPart, b.Op(ptx.Word64, "cvt.u64.u32", w.block))
	w.end = b.Op(ptx.Word64, "min.u64", b.Op(ptx.Word64, "add.s64", w.begin, w.rowsOfPart), w.n)
}

// loop begins a loop that the compiler is not to unroll: as much stands in it as is
// wanted.
func (w *writer) loop(label string) {
	w.b.Place(label)
	w.b.Emit(".pragma \"nounroll\"")
}

// accumulate writes the loops over the block's rows: one that takes many rows of a
// lane at a time, and one for what is left, which is less and may end anywhere.
func (w *writer) accumulate() error {
	b := w.b
	row := b.Op(ptx.Word64, "add.s64", w.begin, w.thread64)
	whole, rest, done := b.Label(), b.Label(), b.Label()

	b.Comment("whole steps of %d rows", lanes*w.rows)
	behind := b.Op(ptx.Word64, "add.s64", w.begin, number(lanes*w.rows))
	b.Branch(b.Op(ptx.Predicate, "setp.gt.s64", behind, w.end), rest)
	w.loop(whole)
	values, err := w.g.Strided(b, row, w.rows, lanes)
	if err != nil {
		return err
	}
	for r, v := range values {
		w.addRow(v, row, r*lanes, "")
	}
	b.Move("add.s64", row, row, number(lanes*w.rows))
	b.Move("add.s64", behind, behind, number(lanes*w.rows))
	b.Branch(b.Op(ptx.Predicate, "setp.le.s64", behind, w.end), whole)

	b.Place(rest)
	few := min(w.rows, 4)
	b.Comment("the rest, %d rows at a time; lanes beyond the end compute its last row again", lanes*few)
	last := b.Op(ptx.Word64, "sub.s64", w.end, "1")
	first := b.Op(ptx.Word64, "sub.s64", row, w.thread64)
	again := b.Label()
	w.loop(again)
	b.Branch(b.Op(ptx.Predicate, "setp.ge.s64", first, w.end), done)
	rows, inside := make([]ptx.Register, few), make([]ptx.Register, few)
	for r := range rows {
		rows[r] = b.Op(ptx.Word64, "add.s64", row, number(r*lanes))
		inside[r] = b.Op(ptx.Predicate, "setp.lt.s64", rows[r], w.end)
		rows[r] = b.Op(ptx.Word64, "min.s64", rows[r], last)
	}
	if values, err = w.g.Rows(b, rows); err != nil {
		return err
	}
	for r, v := range values {
		w.addRow(v, rows[r], 0, inside[r])
	}
	b.Move("add.s64", row, row, number(lanes*few))
	b.Move("add.s64", first, first, number(lanes*few))
	b.Branch("", again)
	b.Place(done)
	for _, lane := range w.lanes {
		if lane == nil {
			w.partials = append(w.partials, []ptx.Register{w.n})
			continue
		}
		partial := lane.Partial(b)
		w.partials, w.accumulated = append(w.partials, partial), append(w.accumulated, partial)
	}
	return nil
}

// addRow adds the outputs of a row, whose number is row + add, to the states. inside
// is whether the row counts at all, "" for always.
func (w *writer) addRow(values []codegen.Value, row ptx.Register, add int, inside ptx.Register) {
	b := w.b
	met := make(map[int]ptx.Register)
	counted := make(map[[2]int]ptx.Register)
	keep := func(value, where int) ptx.Register {
		k, ok := counted[[2]int{value, where}]
		if ok {
			return k
		}
		condition, ok := met[where]
		if !ok {
			condition = inside
			if where >= 0 {
				condition = both(b, both(b, condition, values[where].Valid), values[where].Registers[0])
			}
			met[where] = condition
		}
		if k = condition; value >= 0 {
			k = both(b, condition, w.valid(values[value]))
		}
		counted[[2]int{value, where}] = k
		return k
	}
	var number ptx.Register
	for i, s := range w.plan.states {
		if w.lanes[i] == nil {
			continue
		}
		k := keep(s.value, s.where)
		if s.kind >= combine.FirstLeast && number == "" {
			number = b.Op(ptx.Word64, "add.s64", row, ptx.Register(fmt.Sprint(add)))
		}
		var value []ptx.Register
		if s.value >= 0 {
			value = values[s.value].Registers
		}
		w.lanes[i].Add(b, value, number, k)
	}
}

// valid is the predicate that a value is not null, "" for always. Columns of the
// null type have no bitmap that would say so.
func (w *writer) valid(v codegen.Value) ptx.Register {
	if storage(v.Type).ID() == arrow.NULL {
		return w.b.Op(ptx.Predicate, "setp.ne.u32", w.thread, w.thread)
	}
	return v.Valid
}

// both is the predicate that two hold, either of which may be "" for always.
func both(b *ptx.Builder, x, y ptx.Register) ptx.Register {
	switch {
	case x == "":
		return y
	case y == "" || x == y:
		return x
	}
	return b.Op(ptx.Predicate, "and.pred", x, y)
}
