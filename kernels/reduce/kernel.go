package reduce

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

const (
	kernelName = "reduce"
	// maxCounters is the number of counters, of four bytes each, in the module, one per
	// stream.
	maxCounters = 1024
	// resultStride is the distance between results, and validityOffset the offset of a
	// result's validity, in bytes. They satisfy the alignment of column buffers.
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
// Each block reduces one part of the rows. The block that finishes last merges the
// partials of all blocks and makes the results. Timing determines which block that is,
// but does not affect the results.
//
// If there is only one part, a kernel for a single block is used, which has half the
// code. The driver takes 45 µs to compile each GPU instruction: 12 ms for a sum in one
// block, and 21 to 24 ms for a sum in several.
type writer struct {
	plan *plan
	g    *codegen.Generator
	b    *ptx.Builder
	// single means that there is only one block, and the number of rows fits 32 bits.
	single bool

	// lanes and partials belong to the plan's states; accumulated and kinds belong to
	// the states that must be accumulated. A count of all rows need not be.
	lanes       []*aggregate.Lane
	partials    [][]ptx.Register
	kinds       []aggregate.Kind
	accumulated [][]ptx.Register

	n, thread, block, blocks ptx.Register
	// row is the lane's first row, in 32 bits for a single block. left is the number of
	// rows that the block has left, in 32 bits.
	row, left ptx.Register
	// rows is the number of rows per lane and iteration.
	rows int
}

// The registers are limited so that several blocks fit on a multiprocessor, and one
// block loads while another merges. With five blocks means and variances lose 3 % on an
// H200, and kernels with more operations would spill.
const (
	lightOperations, lightBlocks = 8, 5
	heavyOperations, heavyBlocks = 12, 4
)

// restRows is the number of rows per lane and iteration in the last, incomplete step.
// Two rows wait for memory half as often as one, and take 0.5 ms more to compile.
const restRows = 2

// writeKernel writes a module with the kernel, for a single block or for several, and
// returns the number of words in a part's partials.
func writeKernel(p *plan, g *codegen.Generator, program *exprtree.Program, single bool) (text string, words int, err error) {
	w := &writer{plan: p, g: g, b: ptx.New("k"), lanes: make([]*aggregate.Lane, len(p.states)), single: single}
	if !single {
		w.b.Emit(".shared .align 4 .b32 arrived")
	}
	w.partition()
	known, err := w.known()
	if err != nil {
		return "", 0, err
	}
	for i, s := range p.states {
		if !known[i] {
			w.kinds = append(w.kinds, s.kind)
			w.lanes[i] = aggregate.NewLane(w.b, s.kind, s.form)
		}
	}
	words = aggregate.Words(w.kinds)
	operations := len(program.Nodes) + 2*words
	w.rows = rowsOfLane(program, operations)
	if words > 0 {
		w.b.Emit(".shared .align 8 .b8 merging[%d]", aggregate.SharedBytes(w.kinds))
	}
	if err := w.accumulate(); err != nil {
		return "", 0, err
	}
	w.merge()
	blocks := 0
	switch {
	case single:
	case operations <= lightOperations:
		blocks = lightBlocks
	case operations <= heavyOperations:
		blocks = heavyBlocks
	}
	counters := ""
	if !single {
		counters = fmt.Sprintf(".global .align 4 .b8 counters[%d];\n", 4*maxCounters)
	}
	return ptx.Module(counters, g.Functions(),
		ptx.Kernel{Name: kernelName, Threads: lanes, Blocks: blocks, Body: w.b, Parameters: []ptx.Parameter{
			{Name: "own", Bytes: ownBytes, Struct: true},
			{Name: "arguments", Bytes: 8 * g.Words(), Struct: true},
		}}.String()), words, nil
}

// known reports for each state whether it counts all rows.
func (w *writer) known() ([]bool, error) {
	values, err := w.g.Strided(ptx.New("unused"), "0", 1, lanes)
	if err != nil {
		return nil, err
	}
	known := make([]bool, len(w.plan.states))
	for i, s := range w.plan.states {
		known[i] = s.kind == aggregate.Count && s.where < 0 && (s.value < 0 || w.valid(values[0][s.value]) == "")
	}
	return known, nil
}

func (w *writer) own(offset int) ptx.Register {
	return w.b.Op(ptx.Word64, "ld.param.u64", ptx.Register(fmt.Sprintf("[own+%d]", offset)))
}

func number[N int | int64](n N) ptx.Register { return ptx.Register(fmt.Sprint(n)) }

// partition computes the rows of the block.
func (w *writer) partition() {
	b := w.b
	capacity, rows := w.own(ownCapacity), w.own(ownRows)
	counted := b.Op(ptx.Predicate, "setp.ne.u64", rows, "0")
	w.n = b.Op(ptx.Word64, "mov.u64", capacity)
	b.Emit("@%s ld.global.s64 %s, [%s]", counted, w.n, rows)
	w.n = b.Op(ptx.Word64, "min.s64", b.Op(ptx.Word64, "max.s64", w.n, "0"), capacity)
	w.thread = b.Op(ptx.Word32, "mov.u32", "%tid.x")
	if w.single {
		w.row = b.Op(ptx.Word32, "mov.u32", w.thread)
		w.left = b.Op(ptx.Word32, "cvt.u32.u64", w.n)
		return
	}
	w.block = b.Op(ptx.Word32, "mov.u32", "%ctaid.x")
	w.blocks = b.Op(ptx.Word32, "mov.u32", "%nctaid.x")
	units := b.Op(ptx.Word64, "shr.u64", b.Op(ptx.Word64, "add.s64", w.n, number(leastPart*mostParts-1)), number(leastPartShift+mostPartsShift))
	rowsOfPart := b.Op(ptx.Word64, "shl.b64", b.Op(ptx.Word64, "max.u64", units, "1"), number(leastPartShift))
	begin := b.Op(ptx.Word64, "mul.lo.u64", rowsOfPart, b.Op(ptx.Word64, "cvt.u64.u32", w.block))
	w.row = b.Op(ptx.Word64, "add.s64", begin, b.Op(ptx.Word64, "cvt.u64.u32", w.thread))
	left := b.Op(ptx.Word64, "min.s64", b.Op(ptx.Word64, "sub.s64", w.n, begin), rowsOfPart)
	w.left = b.Op(ptx.Word32, "cvt.u32.u64", b.Op(ptx.Word64, "max.s64", left, "0"))
}
