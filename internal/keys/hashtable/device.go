package hashtable

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

// set has one file, of which each kernel is compiled alone.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const threads = 256

// launch enqueues a kernel with one thread for each of n rows, slots or words.
func (g *Groups) launch(entry string, n int, arguments ...any) error {
	return launch(&g.call, entry, n, arguments...)
}

func launch(call *op.Call, entry string, n int, arguments ...any) error {
	function, err := call.Kernel(&set, "hashtable", entry)
	if err != nil {
		return err
	}
	return function.Launch(call.Stream, kernels.GridFor(n, threads), device.Dim3{X: threads}, 0, arguments...)
}

// findFirstsOnDevice finds the first rows with a hash table that is released before it
// returns.
func (g *Groups) findFirstsOnDevice(k keys) (err error) {
	t, err := newTable(&g.call, slotsFor(g.distinct))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.block.Release()) }()
	if err := g.insert(k, t); err != nil {
		return err
	}
	if g.wanted != OnlyValues {
		return g.launch("first_rows", g.column.Len(), g.argument(t), g.codes, g.firstBits, g.firsts, g.nullKeyWord())
	}
	if err := g.firstBits.Fill(g.call.Stream, 0); err != nil {
		return err
	}
	if err := g.launch("mark_firsts", t.slots.Len(), g.argument(t), g.firstBits, g.nullKeyWord()); err != nil || !g.ranked() {
		return err
	}
	return g.launch("count_firsts", g.words(), g.firstBits, g.firsts, uint64(g.words()))
}

// insert inserts the rows into a table. If codes are requested it writes the slot of each
// row to them.
func (g *Groups) insert(k keys, t table) error {
	arguments := append([]any{g.argument(t)}, k.arguments()...)
	return g.launch(k.kernel, g.column.Len(), append(arguments, g.codes)...)
}

// encode replaces the first rows in codes by the codes.
func (g *Groups) encode() error {
	return g.launch("codes_of", g.column.Len(), g.argument(table{}), g.codes, g.firstBits, g.ranks, g.nullKeyWord())
}

// list writes the numbers of the first rows, and how many there are.
func (g *Groups) list(rows memory.Slice[uint32], listed memory.Slice[int64]) error {
	return g.launch("list_firsts", g.words(), g.firstBits, g.ranks, uint64(g.words()), rows, uint64(g.most), listed)
}

func (g *Groups) countCodesOnDevice(counts memory.Slice[int64]) error {
	return g.launch("count_codes", g.column.Len(), g.argument(table{}), g.codes, counts)
}

// nullKeyWord is nullKey as kernels take it.
func (g *Groups) nullKeyWord() uint32 {
	if g.nullKey() {
		return 1
	}
	return 0
}
