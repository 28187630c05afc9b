package codegen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

const (
	// KernelName is the entry point of an elementwise kernel.
	KernelName = "expression"
	// threads is the number of threads per block.
	threads = 256
	warp    = 32
	// bytesInFlight is the number of bytes that a lane loads before the first use, for
	// all inputs together. On an H200, 32 reach the rate of a copy; more do not improve
	// it and take the driver longer to compile.
	bytesInFlight = 32
	// More than 8 rows are slower with bitmaps. Without bitmaps, narrow values use as
	// many rows as fill bytesInFlight: 8 bytes per lane keep 16 KiB per multiprocessor
	// in flight, a third of the bytes that the memory of an H200 needs.
	fewestRows, mostRows, mostRowsOfBits = 2, 32, 8
	// mostOperations limits the operations for all rows of a lane, to limit the
	// driver's compile time.
	mostOperations = 128
	// fewRows is the maximum number of rows for the kernel of one row per lane. It
	// compiles fastest, and all loads of so few rows are in flight at the same time
	// anyway.
	fewRows = 1 << 18
)

// output describes the words of one result.
type output struct {
	kind kind
	// values and validity are the indices of the words with the addresses; validity is
	// negative for outputs that are never null.
	values, validity int
}

// elementwise is a kernel that computes a program.
type elementwise struct {
	g       *Generator
	rows    int // per lane and chunk
	outputs []output
	text    string
}

// rowsOfLane returns the number of rows per lane of the kernel for many rows: a power
// of two.
func rowsOfLane(g *Generator) int {
	bytes, bits := 0, false
	for _, input := range g.used() {
		k := kindOf(g.program.Types[input])
		bytes += max(1, k.bytes())
		if k.family == text {
			bytes += 8 * k.registers()
		}
		bits = bits || k.family == boolean || g.shape.Inputs[input].Validity != NoBits
	}
	enough, most := bytesInFlight, mostRows
	if bits {
		enough, most = 2*bytesInFlight, mostRowsOfBits // the words of bits fill one sector of memory
	}
	rows := fewestRows
	for rows < most && 2*rows*bytes <= enough && 2*rows*len(g.program.Nodes) <= mostOperations {
		rows *= 2
	}
	return rows
}

// newElementwise writes the kernel that computes all outputs, with rows rows per lane.
//
// A warp takes a chunk of 32·rows consecutive rows, and each lane every 32nd of them:
// the lanes' loads and stores are then consecutive, and one ballot gives a word of a
// bitmap. There are as many warps as chunks, so there is no loop.
//
// The driver takes some 4 ms for an empty kernel, 45 µs more per GPU instruction, and 5
// ms for the first division of float64, which is a function of a hundred instructions.
func newElementwise(g *Generator, rows int) (*elementwise, error) {
	k := &elementwise{g: g, rows: rows}
	b := ptx.New("k")
	var s span
	if rows == 1 {
		s = few(b)
	} else {
		s = many(b, rows)
	}
	if err := k.compute(b, s); err != nil {
		return nil, err
	}
	k.finish(b)
	return k, nil
}

// newPacked writes the packed kernel that computes all outputs, with a number of groups
// per lane: see [packs].
func newPacked(g *Generator, groups int) (*elementwise, error) {
	k := &elementwise{g: g, rows: groups * packedRows}
	b := ptx.New("k")
	if err := k.computePacked(b, packed(b, groups)); err != nil {
		return nil, err
	}
	k.finish(b)
	return k, nil
}

// finish writes the text of the kernel.
func (k *elementwise) finish(b *ptx.Builder) {
	b.Emit("ret")
	k.text = ptx.Module(k.g.Functions(), ptx.Kernel{Name: KernelName, Threads: threads, Body: b, Parameters: []ptx.Parameter{
		{Name: "rows", Bytes: 8}, {Name: "capacity", Bytes: 8},
		{Name: "outputs", Bytes: 8 * k.outputWords(), Struct: true},
		{Name: "arguments", Bytes: 8 * k.g.Words(), Struct: true},
	}}.String())
}

func number(n int) ptx.Register { return ptx.Register(fmt.Sprint(n)) }

// rowCount writes the number of rows: the capacity, or the number at the address of
// rows, which may be invalid. A branch would take longer to compile.
func rowCount(b *ptx.Builder) (n, capacity ptx.Register) {
	capacity = b.Op(ptx.Word64, "ld.param.u64", "[capacity]")
	rows := b.Op(ptx.Word64, "ld.param.u64", "[rows]")
	counted := b.Op(ptx.Predicate, "setp.ne.u64", rows, "0")
	n = b.Op(ptx.Word64, "mov.u64", capacity)
	b.Emit("@%s ld.global.s64 %s, [%s]", counted, n, rows)
	return n, capacity
}

// span describes the rows of a warp.
type span struct {
	// row is the lane's first row, in 32 bits if short is set. chunk is the number of
	// the warp's chunk and lane the number of the lane, in 32 bits.
	row, chunk, lane ptx.Register
	short            bool
	// inside are the predicates that the lane's rows exist, nil if all do. Those of a
	// packed span are of groups of rows.
	inside []ptx.Register
	// packed means that the lane has groups of eight rows. left is then the number of
	// rows from the lane's first on, in 32 bits.
	packed bool
	left   ptx.Register
}

// indices returns the lane's rows.
func (s *span) indices(rows int) []rowIndex {
	indices := strided(s.row, rows, warp)
	for r := range indices {
		if s.packed {
			indices[r].packed, indices[r].add = true, r/packedRows*packedWarp+r%packedRows
		}
		indices[r].short = s.short
		if s.inside != nil {
			indices[r].inside = s.inside[r]
		}
	}
	return indices
}

// few writes the span of one row per lane, for fewer than 2³² rows. Lanes after the
// last row end here: their bits in ballots are zeros.
func few(b *ptx.Builder) span {
	n, capacity := rowCount(b)
	thread := b.Op(ptx.Word32, "mov.u32", "%tid.x")
	row := b.Op(ptx.Word32, "mad.lo.u32", b.Op(ptx.Word32, "mov.u32", "%ctaid.x"), number(threads), thread)
	wide := b.Op(ptx.Word64, "cvt.u64.u32", row)
	outside := b.Op(ptx.Predicate, "setp.ge.s64", wide, capacity)
	b.Emit("@%s ret", b.Op(ptx.Predicate, "setp.ge.or.s64", wide, n, outside))
	return span{row: row, short: true, chunk: b.Op(ptx.Word32, "shr.u32", row, "5"), lane: b.Op(ptx.Word32, "and.b32", row, "31")}
}

// chunkOf writes the number of a warp's chunk of rows, its first row and the number of
// rows that it has, in 32 bits. Warps without rows end here.
func chunkOf(b *ptx.Builder, rows int) (s span, first, left ptx.Register) {
	n, capacity := rowCount(b)
	n = b.Op(ptx.Word64, "min.s64", n, capacity)
	thread := b.Op(ptx.Word32, "mov.u32", "%tid.x")
	s.lane = b.Op(ptx.Word32, "and.b32", thread, "31")
	s.chunk = b.Op(ptx.Word32, "mad.lo.u32", b.Op(ptx.Word32, "mov.u32", "%ctaid.x"), number(threads/warp),
		b.Op(ptx.Word32, "shr.u32", thread, "5"))
	first = b.Op(ptx.Word64, "mul.wide.u32", s.chunk, number(rows))
	b.Emit("@%s ret", b.Op(ptx.Predicate, "setp.ge.s64", first, n))
	left = b.Op(ptx.Word64, "min.s64", b.Op(ptx.Word64, "sub.s64", n, first), number(rows))
	return s, first, b.Op(ptx.Word32, "cvt.u32.u64", left)
}

// many writes the span of several rows per lane. All lanes of the last warp continue,
// because the ballots need them, with predicates for their rows. Whole chunks and the
// last chunk therefore share their code.
func many(b *ptx.Builder, rows int) span {
	s, first, left := chunkOf(b, warp*rows)
	s.row = b.Op(ptx.Word64, "add.s64", first, b.Op(ptx.Word64, "cvt.u64.u32", s.lane))
	own := b.Op(ptx.Word32, "sub.s32", left, s.lane)
	for r := range rows {
		s.inside = append(s.inside, b.Op(ptx.Predicate, "setp.gt.s32", own, number(r*warp)))
	}
	return s
}

// compute writes the computation of a warp's rows.
func (k *elementwise) compute(b *ptx.Builder, rows span) (err error) {
	s := newStorer(b, rows)
	words := map[int][]ptx.Register{} // words of bitmaps, by the output word
	_, failure := k.g.evaluate(b, rows.indices(k.rows), nil, func(r int, values []Value) {
		if r == 0 {
			err = k.note(values)
		}
		for i, output := range k.outputs {
			v := values[i]
			if output.kind.family == boolean {
				words[output.values] = append(words[output.values], s.ballot(v.Registers[0], r))
			} else {
				s.values(output, v, r)
			}
			if output.validity >= 0 {
				words[output.validity] = append(words[output.validity], s.ballot(v.Valid, r))
			}
		}
	})
	for word := range k.outputWords() {
		if words[word] != nil {
			s.words(word, words[word], k.optional(word))
		}
	}
	return errors.Join(failure, err)
}

// optional reports whether a word is the address of a bitmap that the outputs may lack.
func (k *elementwise) optional(word int) bool {
	return k.g.shape.optional() && slices.ContainsFunc(k.outputs, func(o output) bool { return o.validity == word })
}

// note determines the words of each output.
func (k *elementwise) note(values []Value) error {
	words := 0
	for i, v := range values {
		if v.kind.family == unknown || v.kind.family == text || v.kind == (kind{float, 16, true}) {
			return fmt.Errorf("output %d is %v, which no expression makes: %w", i, v.Type, device.ErrNotSupported)
		}
		output := output{kind: v.kind, values: words, validity: -1}
		words++
		if v.Valid != "" {
			output.validity = words
			words++
		}
		k.outputs = append(k.outputs, output)
	}
	return nil
}

// outputWords returns the number of addresses that the kernel writes to.
func (k *elementwise) outputWords() int {
	words := 0
	for _, output := range k.outputs {
		words += 1 + min(1, output.validity+1)
	}
	return max(words, 1)
}
