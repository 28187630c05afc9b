package decompress

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// snappyParts is the lengths of the parts of a page. Tests set it.
var snappyParts = struct {
	// fragment is the length of the parts of the output that encoders compress by themselves, and piece that of the
	// parts of the input in which a block looks for them.
	fragment, piece uint32
}{64 << 10, 64 << 10}

// hasFragments reports whether the fragments of pages are decompressed at the same time. To find them takes as long as
// to decompress the pages, unless these are so few that a multiprocessor has one or two: pages of 16 MiB take 17.9 ms on an
// H200 and by their fragments 1.3, 3.6 and 10.6 ms if there are 4, 16 and 64 (text); 64 of 1 MiB take 1.2 ms either way. With up
// to 256 pages of DuckDB's files, TPC-H at SF 10 took 890 ms, with up to 64 of at least 2 MiB 929.
// Tests replace it.
var hasFragments = func(size Size) bool {
	const mostPages, leastLength = 256, 1 << 20
	return size.Pages <= mostPages && size.Length/uint64(size.Pages) >= leastLength
}

// scope is the part of a launch: Scope of snappy.cu.
type scope uint32

const (
	allPages scope = iota
	allFragments
	undividedPages
)

// division is the lists of a division of pages: Division of snappy.cu.
type division struct {
	pieces, fragments                    uint64
	plans, pieceList, fragmentList, used memory.Slice[uint8]
}

// divisionOf returns the division of pages of a size, without memory.
func divisionOf(size Size) division {
	n := uint64(size.Pages)
	return division{pieces: n + size.Compressed/uint64(snappyParts.piece), fragments: n + size.Length/uint64(snappyParts.fragment)}
}

// bytes returns the lengths of the lists.
func (d *division) bytes(size Size) []uint64 {
	const plan, piece, fragment = 8, 24, 8 // sizes of structs of snappy.cu
	return []uint64{plan * uint64(size.Pages), piece * d.pieces, fragment * d.fragments, plan}
}

// allocate takes the memory of the lists, which are empty.
func (d *division) allocate(call *op.Call, size Size) (*memory.Block, error) {
	block, lists, err := call.Scratch(d.bytes(size)...)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		err = errors.Join(err, list.Fill(call.Stream, 0))
	}
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	d.plans, d.pieceList, d.fragmentList, d.used = lists[0], lists[1], lists[2], lists[3]
	return block, nil
}

func (d *division) argument() any {
	return kernels.Struct(d.plans, d.pieceList, d.fragmentList, d.used, uint32(d.pieces), uint32(d.fragments), snappyParts.piece, snappyParts.fragment)
}

func snappyScratch(size Size) uint64 {
	if size.Pages == 0 || !hasFragments(size) {
		return 0
	}
	d := divisionOf(size)
	bytes, err := op.Bytes(d.bytes(size)...)
	if err != nil {
		return 0 // Launch returns the error
	}
	return bytes
}

// launchSnappy decompresses long pages by their fragments, which need lists. If there is no memory for these, or the
// pages are short, it decompresses whole pages.
func launchSnappy(call *op.Call, batch Batch) (err error) {
	d := divisionOf(batch.Size)
	if !hasFragments(batch.Size) {
		return d.launch(call, batch, allPages, batch.Size)
	}
	block, err := d.allocate(call, batch.Size)
	switch {
	case errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory):
		return d.launch(call, batch, allPages, batch.Size)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	if err := d.launchFragments(call, batch); err != nil {
		return err
	}
	return d.launch(call, batch, undividedPages, batch.Size)
}

// launchFragments divides pages, and decompresses their fragments.
func (d *division) launchFragments(call *op.Call, batch Batch) error {
	for _, step := range []struct {
		entry     string
		grid      uint64
		threads   uint32
		arguments []any
	}{
		{"snappy_list", uint64(batch.Size.Pages), warp, []any{batch.Pages, batch.Input.Bytes(), batch.Output.Bytes(), batch.Status, d.argument()}},
		{"snappy_survey", d.pieces, block, []any{batch.Pages, batch.Input, d.argument()}},
		{"snappy_join", uint64(batch.Size.Pages), block, []any{batch.Pages, batch.Input, batch.Status, d.argument()}},
		{"snappy_divide", d.pieces, block, []any{batch.Pages, batch.Input, batch.Status, d.argument()}},
	} {
		f, err := call.Kernel(&set, "snappy", step.entry)
		if err != nil {
			return err
		}
		if err := f.Launch(call.Stream, device.Dim3{X: uint32(step.grid)}, device.Dim3{X: step.threads}, 0, step.arguments...); err != nil {
			return err
		}
	}
	return d.launch(call, batch, allFragments, Size{Pages: int(d.fragments), Length: batch.Size.Length})
}

// launch decompresses what is in a scope by a warp or a block each.
func (d *division) launch(call *op.Call, batch Batch, s scope, size Size) error {
	entry, threads := form("snappy", size)
	f, err := call.Kernel(&set, "snappy", entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(size.Pages)}, device.Dim3{X: threads}, 0, batch.Pages, uint32(s), d.argument(),
		batch.Input, batch.Input.Bytes(), batch.Output, batch.Output.Bytes(), batch.Status)
}
