package order

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/memory"
)

// Constants of search.cuh.
const (
	searchThreads  = 256
	searchTile     = 2048
	searchCached   = 4096
	sampleDistance = 32
	// searchBlocks is the number of blocks for each multiprocessor. Their shared memory fits
	// four to five times.
	searchBlocks = 5
)

var (
	searchNames  = [2][2]string{{"search_lower_32", "search_lower_64"}, {"search_upper_32", "search_upper_64"}}
	sampleNames  = [2]string{"search_samples_32", "search_samples_64"}
	descentNames = [2]string{"search_descent_32", "search_descent_64"}
)

// onDevice returns the rows as kernels take them. All rows are not listed.
func (r someRows) onDevice() (rowkey.DeviceRows, error) {
	rows := rowkey.DeviceRows{First: r.begin, Rows: r.count()}
	if r.listed.Len() == 0 {
		return rows, nil
	}
	rows.First = 0
	listed, err := r.listed.Slice(r.begin, r.end)
	rows.Listed = listed
	return rows, err
}

// encodedOnDevice is someRows with their encoder, and the first words.
type encodedOnDevice struct {
	someRows
	rows    rowkey.DeviceRows
	encoder *rowkey.Device
	words   memory.Slice[uint8]
}

// wordFlip reports whether the values of the rows are their words, except for the bits of flip.
func (r someRows) wordFlip() (flip uint64, ok bool) {
	if r.listed.Len() > 0 {
		return 0, false
	}
	return r.plan.Flip()
}

// encoded returns rows with their encoder. scratch is for their bitmaps and words.
func (o *ordering) encoded(r someRows, scratch []memory.Slice[uint8]) (e encodedOnDevice, err error) {
	bitmaps := len(r.plan.Sources)
	e = encodedOnDevice{someRows: r, words: scratch[bitmaps]}
	if e.rows, err = r.onDevice(); err != nil {
		return e, err
	}
	e.encoder, err = rowkey.NewDevice(&o.call, r.plan, scratch[:bitmaps])
	return e, err
}

// encode writes the first words, unless the values are the words.
func (e *encodedOnDevice) encode() error {
	if _, ok := e.wordFlip(); ok {
		width := e.plan.Segments[0].Width()
		words, err := e.encoder.Values(0).Slice(e.begin*width, e.end*width)
		e.words = words
		return err
	}
	return e.encoder.Encode(0, 0, e.rows, e.words)
}

// findScratch returns the sizes of the memory that findOnDevice needs: for both sides bitmaps
// and words; samples; and the other bounds.
func findScratch(sorted, values someRows) []uint64 {
	var sizes []uint64
	for _, r := range []someRows{sorted, values} {
		words := r.plan.WordsBytes(r.count())
		if _, ok := r.wordFlip(); ok {
			words = 0
		}
		sizes = append(append(sizes, r.plan.DeviceScratch()...), words)
	}
	if !sorted.searchable() {
		return append(sizes, 0, 4*uint64(values.count()))
	}
	samples := 0
	if sorted.count() > searchCached {
		samples = (sorted.count() + sampleDistance - 1) / sampleDistance
	}
	return append(sizes, sorted.plan.WordsBytes(samples), 0)
}

// searchable reports whether a word decides the order.
func (o *ordering) searchable() bool { return o.oneWord() && o.plan.Bits() > 0 }

// findOnDevice is find on a GPU.
func (o *ordering) findOnDevice(sorted, values someRows, upper bool, places memory.Slice[uint32]) error {
	block, scratch, err := o.call.Scratch(findScratch(sorted, values)...)
	if err != nil {
		return err
	}
	return releasedAfter(block, func() error {
		sides := len(scratch)/2 - 1
		among, err := o.encoded(sorted, scratch[:sides])
		if err != nil {
			return err
		}
		those, err := o.encoded(values, scratch[sides:2*sides])
		if err != nil {
			return err
		}
		if sorted.searchable() {
			return o.findWords(among, those, upper, scratch[2*sides], places)
		}
		return o.narrow(among, those, upper, scratch[2*sides+1], places)
	})
}

// findWords finds places by words that decide the order.
func (o *ordering) findWords(sorted, values encodedOnDevice, upper bool, samples memory.Slice[uint8], places memory.Slice[uint32]) error {
	if err := errors.Join(sorted.encode(), values.encode()); err != nil {
		return err
	}
	flip, _ := sorted.wordFlip()
	wide, above := o.plan.Segments[0].Width()/8, 0
	if upper {
		above = 1
	}
	n, count := sorted.count(), values.count()
	if samples.Len() > 0 {
		if err := o.launchSearch(sampleNames[wide], samples.Len()/o.plan.Segments[0].Width(), samples, sorted.words, uint32(n)); err != nil {
			return err
		}
	}
	f, err := o.call.Kernel(&tieKernels, "search", searchNames[above][wide])
	if err != nil {
		return err
	}
	blocks := min((count+searchTile-1)/searchTile, max(o.call.Stream.Device().Info().Multiprocessors, 1)*searchBlocks)
	return f.Launch(o.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: searchThreads}, 0,
		places, sorted.words, uint32(n), samples, values.words, uint64(count), flip)
}

// launchSearch enqueues a kernel for n elements.
func (o *ordering) launchSearch(name string, n int, arguments ...any) error {
	f, err := o.call.Kernel(&tieKernels, "search", name)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, searchThreads, threadRows, 0)
	if err != nil {
		return err
	}
	return f.Launch(o.call.Stream, grid, device.Dim3{X: searchThreads}, 0, arguments...)
}

// narrow finds places by one word after the other.
func (o *ordering) narrow(sorted, values encodedOnDevice, upper bool, other memory.Slice[uint8], places memory.Slice[uint32]) error {
	bounds, err := memory.Reinterpret[uint32](other)
	if err != nil {
		return err
	}
	lows, highs := places, bounds
	if upper {
		lows, highs = bounds, places
	}
	if err := o.launchTies("order_limits", values.count(), lows, highs, uint32(sorted.count()), uint64(values.count())); err != nil {
		return err
	}
	return sorted.encoder.Narrow(sorted.rows, values.encoder, values.rows, lows, highs, sorted.words, values.words)
}
