package hashtable

import (
	_ "embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// module is one file of code. Each is loaded on first use on a device, because
// compiling one takes the driver tens of milliseconds.
type module struct{ text string }

var (
	//go:embed cuda/insert_integers.ptx
	insertIntegers string
	//go:embed cuda/insert_floats.ptx
	insertFloats string
	//go:embed cuda/insert_others.ptx
	insertOthers string
	//go:embed cuda/insert_bytes.ptx
	insertBytes string
	//go:embed cuda/codes.ptx
	codes string

	integersModule = &module{insertIntegers}
	floatsModule   = &module{insertFloats}
	othersModule   = &module{insertOthers}
	bytesModule    = &module{insertBytes}
	codesModule    = &module{codes}
)

func (m *module) kernel(dev *device.Device, name string) (*kernels.Function, error) {
	loaded, err := kernels.LoadCached(dev, m.text)
	if err != nil {
		return nil, err
	}
	return loaded.Function(name)
}

const threads = 256

// launch enqueues a kernel with one thread for each of n rows or slots.
func (g *Groups) launch(m *module, name string, n int, arguments ...any) error {
	function, err := m.kernel(g.call.Stream.Device(), name)
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
	defer func() { err = errors.Join(err, t.slots.Release()) }()
	if err := g.insert(k, t); err != nil {
		return err
	}
	if codes {
		return g.launch(codesModule, "first_rows", g.keys.Len(), g.argument(t), g.codes, g.isFirst, g.firstBits, g.nullKeyWord())
	}
	if err := g.firstBits.Fill(g.call.Stream, 0); err != nil {
		return err
	}
	return g.launch(codesModule, "mark_firsts", t.slots.Len(), g.argument(t), g.firstBits, g.nullKeyWord())
}

// insert inserts the rows into a table. If codes are requested it writes the slot of
// each row to them.
func (g *Groups) insert(k keys, t table) error {
	arguments := append([]any{g.argument(t)}, k.arguments()...)
	return g.launch(k.module, k.kernel, g.column.Len(), append(arguments, g.codes)...)
}

func (g *Groups) encodeOnDevice() error {
	return g.launch(codesModule, "codes_of", g.column.Len(), g.argument(table{}), g.codes, g.ranks, g.nullKeyWord())
}

func (g *Groups) countCodesOnDevice(counts memory.Slice[int64]) error {
	return g.launch(codesModule, "count_codes", g.column.Len(), g.argument(table{}), g.codes, counts)
}

// nullKeyWord is nullKey as kernels take it.
func (g *Groups) nullKeyWord() uint32 {
	if g.nullKey {
		return 1
	}
	return 0
}
