package hashtable

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx
var code embed.FS

// set has a file of kernels that insert keys for each kind of key, and one of kernels
// that work on the table of any kind.
var set = kernelset.Set{Files: code, Directory: "cuda"}

const threads = 256

// launch enqueues a kernel with one thread for each of n rows or slots.
func (g *Groups) launch(file, entry string, n int, arguments ...any) error {
	function, err := g.call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return function.Launch(g.call.Stream, kernels.GridFor(n, threads), device.Dim3{X: threads}, 0, arguments...)
}

// findFirstsOnDevice finds the first rows with a hash table that is released before it
// returns.
func (g *Groups) findFirstsOnDevice(k keys, codes bool) (err error) {
	t, err := newTable(&g.call, g.keys.Len())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.block.Release()) }()
	if err := g.insert(k, t); err != nil {
		return err
	}
	if codes {
		return g.launch("codes", "first_rows", g.keys.Len(), g.argument(t), g.codes, g.isFirst, g.firstBits, g.nullKeyWord())
	}
	if err := g.firstBits.Fill(g.call.Stream, 0); err != nil {
		return err
	}
	return g.launch("codes", "mark_firsts", t.slots.Len(), g.argument(t), g.firstBits, g.nullKeyWord())
}

// insert inserts the rows into a table. If codes are requested it writes the slot of
// each row to them.
func (g *Groups) insert(k keys, t table) error {
	arguments := append([]any{g.argument(t)}, k.arguments()...)
	return g.launch(k.file, k.kernel, g.column.Len(), append(arguments, g.codes)...)
}

func (g *Groups) encodeOnDevice() error {
	return g.launch("codes", "codes_of", g.column.Len(), g.argument(table{}), g.codes, g.ranks, g.nullKeyWord())
}

func (g *Groups) countCodesOnDevice(counts memory.Slice[int64]) error {
	return g.launch("codes", "count_codes", g.column.Len(), g.argument(table{}), g.codes, counts)
}

// nullKeyWord is nullKey as kernels take it.
func (g *Groups) nullKeyWord() uint32 {
	if g.nullKey {
		return 1
	}
	return 0
}
