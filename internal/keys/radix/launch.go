package radix

import (
	"embed"
	"math/bits"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

//go:embed cuda/*.ptx*
var code embed.FS

// set has all kernels in one file. Each is compiled alone.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const file = "radix"

// names are the kernels for a width of keys and a payload.
type names struct{ histogram, sample, pass, small, runs, specials, restore string }

// kernelNames is indexed by width and by payload.
var kernelNames = newKernelNames()

func newKernelNames() (all [2][payloads]names) {
	suffixes := [payloads]string{alone: "alone", rows: "rows", packed: "packed", wide: "wide", paired: "paired", narrowed: "narrowed"}
	for i, width := range []string{"32", "64"} {
		for p, suffix := range suffixes {
			n := &all[i][p]
			n.histogram, n.sample = "radix_histogram_"+width, "radix_sample_"+width
			n.specials, n.restore = "radix_specials_"+width, "radix_restore_"+width
			n.pass, n.small, n.runs = "radix_pass_"+width+"_"+suffix, "radix_small_"+width+"_"+suffix, "radix_runs_"+width+"_"+suffix
		}
	}
	pairs := &all[0][paired]
	pairs.pass, pairs.small = "radix_pass_64_paired", "radix_small_32_rows"
	return all
}

func index(second bool) int {
	if second {
		return 1
	}
	return 0
}

// launcher is one run of a sort.
type launcher struct {
	*Sort
	call    *op.Call
	buffers Buffers
	names   *names
}

// launch enqueues a kernel with the arguments of all kernels and more.
func (l *launcher) launch(name string, blocks, threads int, more ...any) error {
	return l.launchWith(name, blocks, threads, 0, more...)
}

func (l *launcher) launchWith(name string, blocks, threads int, sharedBytes uint32, more ...any) error {
	kernels, from := &set, file
	if form := l.Limits.Form; form != nil && (form.DigitBits != DigitBits || strings.HasSuffix(name, form.Suffix)) {
		kernels, from = form.Kernels, form.File
	}
	f, err := l.call.Kernel(kernels, from, name)
	if err != nil {
		return err
	}
	b := &l.buffers
	e := &l.Encoding
	first := b.Keys[0]
	if l.Paired() && l.small() { // the kernel has one form of results
		first = b.Sorted
	}
	nullKey := ^uint64(0)
	if l.NullsFirst {
		nullKey = 0
	}
	arguments := append([]any{b.State, first, b.Keys[1], b.Input, b.Sorted, b.Numbers[0], b.Numbers[1], b.InputNumbers, l.Counted, int64(l.Rows),
		uint32(l.Low), uint32(l.High), [6]uint64{e.Positive, e.Negative, e.Subtract, e.Flip, e.Infinity, e.NaN}, l.Valid, uint64(l.ValidBit), nullKey}, more...)
	return f.Launch(l.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: uint32(threads)}, sharedBytes, arguments...)
}

func (l *launcher) run() error {
	source, numbered := uint32(l.Source()), uint32(index(l.Numbers == RowNumbers || l.Numbers == PackedNumbers))
	if l.small() {
		// The kernel sorts a power of two of rows.
		threads := max(32, min(1<<bits.Len(uint(l.Rows-1)), smallThreads))
		return l.launch(l.names.small, 1, threads, source, numbered, uint32(index(!l.DropKeys)))
	}
	if err := l.clear(); err != nil {
		return err
	}
	loops := max(l.call.Stream.Device().Info().Multiprocessors, 1) * residentBlocks
	blocks := min((l.Rows+histogramRows-1)/histogramRows, loops)
	if err := l.launch(l.names.histogram, blocks, histogramThreads, source); err != nil {
		return err
	}
	finishing := l.finishing()
	if finishing {
		if err := l.launch(l.names.sample, 1, smallThreads, source, uint32(index(l.narrowing()))); err != nil {
			return err
		}
	}
	wanted := [6]uint32{
		source, numbered, uint32(index(finishing)), uint32(index(l.whole() && l.Numbers == NoNumbers)), uint32(index(l.narrowing())), uint32(index(!l.Limits.Undetected)),
	}
	if err := l.launch("radix_plan", 1, l.digitValues(), wanted); err != nil {
		return err
	}
	pass := passOf{l.Sort, l.payload()}
	if err := l.round(pass, firstRound, l.digits()); err != nil {
		return err
	}
	if l.narrowing() {
		if err := l.round(passOf{l.Sort, narrowed}, narrowRound, mostDigits/2); err != nil {
			return err
		}
	}
	if finishing {
		if err := l.launch(l.names.runs, blocks, histogramThreads); err != nil {
			return err
		}
		if err := l.launch("radix_plan_again", 1, 32); err != nil {
			return err
		}
		if err := l.round(pass, secondRound, l.digits()+1); err != nil {
			return err
		}
	}
	return l.restore(blocks)
}

// restore gives the zeros and NaNs of floats their bits, if the keys do not have them. The
// kernels return immediately otherwise. They use the memory of the tiles, which are done.
func (l *launcher) restore(blocks int) error {
	if l.Encoding.Infinity == 0 || l.DropKeys {
		return nil
	}
	parts, err := l.buffers.State.Slice(l.stateOffset(), l.buffers.State.Len())
	if err != nil {
		return err
	}
	if err := l.launch(l.names.specials, blocks, restoreThreads, parts); err != nil {
		return err
	}
	to := l.buffers.Keys[0]
	if l.Paired() {
		to = l.buffers.Sorted
	}
	return l.launch(l.names.restore, blocks, restoreThreads, parts, to)
}

// clear zeroes the plan and the first area of the tiles' state.
func (l *launcher) clear() error {
	first, err := l.buffers.State.Slice(0, l.stateOffset()+int(l.areaBytes()))
	if err != nil {
		return err
	}
	return first.Fill(l.call.Stream, 0)
}

// round enqueues the passes of a round. Passes that are not needed return immediately. The
// context ends the work between passes.
func (l *launcher) round(pass passOf, round, slots int) error {
	tiles, portions := pass.tiles()
	name := kernelNames[index(l.Width == 64)][pass.payload].pass
	if form := l.Limits.Form; form != nil {
		name = "radix_pass_" + form.Suffix
	}
	state, err := l.buffers.State.Slice(l.stateOffset(), l.buffers.State.Len())
	if err != nil {
		return err
	}
	// The runs are sorted by keys.
	keep := uint32(index(!l.DropKeys || round == firstRound && l.finishing()))
	// Each block takes several tiles.
	blocks := min(tiles, max(l.call.Stream.Device().Info().Multiprocessors, 1)*passBlocks)
	for slot := range slots {
		if err := cancel.Error(l.call.Context()); err != nil {
			return err
		}
		for portion := range portions {
			err := l.launchWith(name, blocks, passThreads, pass.sharedBytes(), uint32(round), uint32(slot), keep,
				state, l.areaBytes()/4, uint32(portion), uint32(portions), uint32(tiles))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
