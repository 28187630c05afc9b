package codegen

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
)

const (
	// KernelName is the entry point of an elementwise kernel.
	KernelName = "expression"
	// threads is how many a block has.
	threads = 256
	warp    = 32
	// bytesInFlight is what a lane should have loaded ahead of the first use, of
	// all inputs together. With half of the 2,048 lanes that a multiprocessor can
	// have it keeps 64 KiB on the way, a third more than what saturates an H200.
	bytesInFlight        = 64
	fewestRows, mostRows = 2, 16
	// mostOperations bounds what is written for the rows of a lane together, so
	// that the driver compiles it soon.
	mostOperations = 400
)

// output is what of a result the kernel writes.
type output struct {
	kind kind
	// values and validity are the numbers of the words with the addresses;
	// validity is negative for what is never null.
	values, validity int
}

// elementwise is a kernel that computes a program.
type elementwise struct {
	g       *Generator
	rows    int // of a lane at a time
	outputs []output
	text    string
}

// rowsOfLane returns how many rows a lane has at a time: a power of two.
func rowsOfLane(g *Generator) int {
	bytes := 0
	for _, input := range g.used() {
		k := kindOf(g.program.Types[input])
		bytes += max(1, k.bytes())
		if k.family == text {
			bytes += 8 * k.registers()
		}
	}
	rows := fewestRows
	for rows < mostRows && rows*bytes < bytesInFlight && 2*rows*len(g.program.Nodes) <= mostOperations {
		rows *= 2
	}
	return rows
}

// newElementwise writes the kernel that computes all outputs, so many rows of a lane
// at a time.
//
// A warp takes 32·rows consecutive rows at a time, and of these each lane every
// 32nd: what the lanes load or store together is consecutive, and one ballot gives
// the word of a bitmap. Rows that fill no such chunk are taken 32 at a time, each
// by another warp; so are all of them where there are few.
func newElementwise(g *Generator, rows int) (*elementwise, error) {
	k := &elementwise{g: g, rows: rows}
	b := ptx.New("k")
	b.Comment("n rows, of which whole chunks of %d are done first", warp*k.rows)
	n := rowCount(b)
	thread := b.Op(ptx.Word32, "mov.u32", "%tid.x")
	lane := b.Op(ptx.Word32, "and.b32", thread, "31")
	warps := b.Op(ptx.Word64, "mul.wide.u32", b.Op(ptx.Word32, "mov.u32", "%nctaid.x"), number(threads/warp))
	block := b.Op(ptx.Word32, "mov.u32", "%ctaid.x")
	own := b.Op(ptx.Word64, "mad.wide.u32", block, number(threads/warp),
		b.Op(ptx.Word64, "cvt.u64.u32", b.Op(ptx.Word32, "shr.u32", thread, "5")))
	lane64 := b.Op(ptx.Word64, "cvt.u64.u32", lane)

	// Where every warp can have 32 rows for itself, and no more, it has them.
	few := b.Op(ptx.Predicate, "setp.le.u64", n, b.Op(ptx.Word64, "shl.b64", warps, "5"))
	chunks := b.Op(ptx.Word64, "shr.u64", n, number(log2(warp*k.rows)))
	chunks = b.Op(ptx.Word64, "selp.b64", "0", chunks, few)

	chunk := b.Op(ptx.Word64, "mov.u64", own)
	loop, tail, tailLoop, done := b.Label(), b.Label(), b.Label(), b.Label()
	b.Branch(b.Op(ptx.Predicate, "setp.ge.u64", chunk, chunks), tail)
	b.Place(loop)
	first := b.Op(ptx.Word64, "mul.lo.u64", chunk, number(warp*k.rows))
	if err := k.chunk(b, b.Op(ptx.Word64, "add.s64", first, lane64), first, lane); err != nil {
		return nil, err
	}
	b.Move("add.s64", chunk, chunk, warps)
	b.Branch(b.Op(ptx.Predicate, "setp.lt.u64", chunk, chunks), loop)

	b.Place(tail)
	b.Comment("the rows that are left, 32 a warp")
	step := b.Op(ptx.Word64, "mad.lo.u64", chunks, number(k.rows), own)
	start := b.Op(ptx.Word64, "shl.b64", step, "5")
	stride := b.Op(ptx.Word64, "shl.b64", warps, "5")
	b.Place(tailLoop)
	b.Branch(b.Op(ptx.Predicate, "setp.ge.u64", start, n), done)
	if err := k.tail(b, start, lane64, lane, n); err != nil {
		return nil, err
	}
	b.Move("add.s64", start, start, stride)
	b.Branch("", tailLoop)
	b.Place(done)
	b.Emit("ret")

	k.text = ptx.Module(g.Functions(), ptx.Kernel{Name: KernelName, Threads: threads, Body: b, Parameters: []ptx.Parameter{
		{Name: "rows", Bytes: 8}, {Name: "capacity", Bytes: 8},
		{Name: "outputs", Bytes: 8 * k.outputWords(), Struct: true},
		{Name: "arguments", Bytes: 8 * g.Words(), Struct: true},
	}}.String())
	return k, nil
}

func number(n int) ptx.Register { return ptx.Register(fmt.Sprint(n)) }

// rowCount writes the number of rows: the capacity, or what the device has at the
// address of rows, between zero and the capacity.
func rowCount(b *ptx.Builder) ptx.Register {
	n := b.Op(ptx.Word64, "ld.param.u64", "[capacity]")
	rows := b.Op(ptx.Word64, "ld.param.u64", "[rows]")
	known := b.Label()
	b.Branch(b.Op(ptx.Predicate, "setp.eq.u64", rows, "0"), known)
	counted := b.Op(ptx.Word64, "ld.global.s64", "["+rows+"]")
	counted = b.Op(ptx.Word64, "max.s64", counted, "0")
	b.Move("min.s64", n, n, counted)
	b.Place(known)
	return n
}

// chunk writes what is done with a whole chunk. row is the lane's first row, first
// that of the chunk.
func (k *elementwise) chunk(b *ptx.Builder, row, first, lane ptx.Register) (err error) {
	s := storer{b: b}
	words := map[int][]ptx.Register{} // of bitmaps, by the output word
	failure := k.g.Each(b, row, k.rows, warp, func(r int, values []Value) {
		if r == 0 {
			err = k.note(values)
		}
		for i, output := range k.outputs {
			v := values[i]
			if output.kind.family == boolean {
				words[output.values] = append(words[output.values], s.ballot(v.Registers[0]))
			} else {
				s.values(output, v, row, r*warp, "")
			}
			if output.validity >= 0 {
				words[output.validity] = append(words[output.validity], s.ballot(v.Valid))
			}
		}
	})
	for word := range k.outputWords() {
		if words[word] != nil {
			s.words(word, words[word], first, lane)
		}
	}
	return errors.Join(failure, err)
}

// tail writes what is done with up to 32 rows from start on. Lanes beyond the end
// compute the last row once more, and write nothing.
func (k *elementwise) tail(b *ptx.Builder, start, lane64, lane, n ptx.Register) error {
	row := b.Op(ptx.Word64, "add.s64", start, lane64)
	inside := b.Op(ptx.Predicate, "setp.lt.u64", row, n)
	last := b.Op(ptx.Word64, "sub.s64", n, "1")
	values, err := k.g.Strided(b, b.Op(ptx.Word64, "min.u64", row, last), 1, warp)
	if err != nil {
		return err
	}
	s := storer{b: b}
	for i, output := range k.outputs {
		v := values[0][i]
		if output.kind.family == boolean {
			s.words(output.values, []ptx.Register{s.ballot(both(b, v.Registers[0], inside))}, start, lane)
		} else {
			s.values(output, v, row, 0, inside)
		}
		if output.validity >= 0 {
			s.words(output.validity, []ptx.Register{s.ballot(both(b, v.Valid, inside))}, start, lane)
		}
	}
	return nil
}

// note decides what is written of each output.
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

// outputWords is how many addresses the kernel writes to.
func (k *elementwise) outputWords() int {
	words := 0
	for _, output := range k.outputs {
		words += 1 + min(1, output.validity+1)
	}
	return max(words, 1)
}
