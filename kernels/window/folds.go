package window

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// Constants of the kernels: see cuda/over.cu.
const (
	scanRows    = 2048
	rollThreads = 512
	rollRows    = 2048
	// The places of a block that ranks the values of frames.
	quantileThreads = 512
	quantileRows    = 2048
	// leastRolled is the smallest number of rows that is worth a block of over_roll: the
	// rest of its memory has the rows before and after.
	leastRolled = 256
	stateBytes  = 24
	shiftLoads  = 4
	numberLoads = 2
	// mostShifted is the number of rows whose places fit 32 bits with room for a grid.
	mostShifted = math.MaxInt32
	// The elements of a warp that folds frames in registers, and the longest frame that
	// leaves it half of them for results.
	slideThreads = 128
	slideRows    = 512
	longestSlide = 256
)

// fold computes a function of the values of a frame.
func (a *arrangement) fold(f Function, value *column.Column, t arrow.DataType, frame *framing) (*column.Column, error) {
	call, in, err := a.begin(value)
	if err != nil {
		return nil, err
	}
	by, to := f.folding(value.Type(), t)
	nullable := to.result != resultCount || to.least > 0
	spread := spreading{a, &call, to.bytes, spreadKernels[to.bytes]}
	return a.newColumn(&call, t, nullable, func(out op.Buffers) error {
		return spread.write(out, func(out op.Buffers) error { return a.foldInto(&call, f, in, by, to, frame, out) })
	})
}

// foldInto writes the fold of each frame.
func (a *arrangement) foldInto(call *op.Call, f Function, in op.View, by folding, to writing, frame *framing, out op.Buffers) (err error) {
	// Not also other frames that reach before all rows: sums of floats would depend on the
	// number of rows of the table.
	cumulative := f.kind == exponentialMean || f.frame.kind == rowsFrame && frame.high == 0 && f.frame.low == FirstRow
	if call.OnHost() {
		return a.foldOnHost(f, in, by, to, frame, cumulative, out)
	}
	w := deviceWriting{out, to}
	ordered, err := a.gather(call, in, by)
	if err != nil {
		return err
	}
	if ordered != nil {
		listed := a.listed
		in, a.listed = ordered.view, memory.Slice[uint32]{}
		defer func() {
			a.listed = listed
			err = errors.Join(err, ordered.block.Release())
		}()
	}
	switch {
	case f.kind == quantileOf:
		return a.quantile(call, in, by, w, frame, f.fraction)
	case cumulative:
		return a.scan(call, in, by, false, w, presence{})
	}
	return a.roll(call, in, by, w, frame)
}

// folding returns the fold of a function and its result, for values of a type.
func (f Function) folding(t, result arrow.DataType) (folding, writing) {
	format, ok := numbers.TypeOf(t)
	if !ok {
		format = noFormat
	}
	by, to := folding{format: format}, writing{bytes: 8, least: uint64(f.least)}
	isFloat := format.Class == numbers.Float
	switch f.kind {
	case countOf, countRows:
		by, to.result = folding{format: noFormat, fold: foldCount}, resultCount
	case sumOf, meanOf:
		by.fold, to.result = foldIntegers, resultInteger
		switch {
		case isFloat && f.kind == sumOf:
			by.fold, to.result = foldFloats, resultWord
		case isFloat:
			by.fold, to.result = foldFloats, resultMean
		case f.kind == meanOf:
			to.result = resultIntegerMean
		}
	case productOf:
		by.fold, to.result = foldProduct, resultWord
		if isFloat {
			by.fold = foldFloatProduct
		}
	case orOf, xorOf:
		by.fold, to.result, to.bytes = foldOr, resultWord, format.Bytes
		if f.kind == xorOf {
			by.fold = foldXor
		}
	case minimumOf, maximumOf:
		by.fold, by.flip, to.result, to.bytes = foldLeast, f.kind == maximumOf, resultKey, format.Bytes
	case varianceOf, deviationOf:
		by.fold, to.result, to.freedom = foldMoments, resultVariance, uint32(f.number)
		if f.kind == deviationOf {
			to.result = resultDeviation
		}
	case quantileOf:
		to.result = resultWord // of no fold
	case exponentialMean:
		by.fold, by.decay, to.result = foldDecay, 1-f.fraction, resultDecayed
	}
	return by, to
}

// argument is the kernels' Folding.
func (f folding) argument() any {
	l := foldingLayout{decay: math.Float64bits(f.decay), fold: uint32(f.fold), format: formatCode(f.format), flip: kernelset.Flag(f.flip)}
	return l.asArgument()
}

// formatCode is the number that kernels have for a format.
func formatCode(t numbers.Type) uint32 { return uint32(4*int(t.Class) + t.Index()) }

// valuesArgument is the kernels' Values.
func valuesArgument(in op.View, by folding) any {
	if by.format == noFormat {
		in.Values = memory.Slice[uint8]{}
	}
	l := layoutOf(in)
	return l.asArgument()
}

// layoutOf returns a column as kernels take it.
func layoutOf(in op.View) valuesLayout {
	return valuesLayout{values: in.Values, valid: in.Valid, bit: uint64(in.Bit)}
}

// deviceWriting is a result on a GPU.
type deviceWriting struct {
	out op.Buffers
	writing
}

// emptyWriting is the argument of kernels that write no values.
var emptyWriting = deviceWriting{writing: writing{bytes: 8}}

// argument is the kernels' Writing.
func (w deviceWriting) argument() any {
	l := writingLayout{values: w.out.Values, valid: w.out.Valid, least: w.least, result: uint32(w.result), freedom: w.freedom, bytes: uint32(w.bytes)}
	return l.asArgument()
}

// scanKernel returns the kernel of frames from the first row on for a fold.
func scanKernel(fold stateFold) string {
	switch fold {
	case foldFloats:
		return "over_scan_floats"
	case foldIntegers:
		return "over_scan_integers"
	}
	return "over_scan"
}

// scanning is the kernels of frames from the first row on. They fold the rows in tiles, the
// folds of tiles in groups, and those of groups in sequence.
type scanning struct {
	// name is the kernel of the rows. scans is the name of those that scan the folds of tiles.
	name, scans string
	// arguments are those of the rows' kernel, before and behind the folds.
	before, behind []any
}

// scanning returns the kernels for a fold. Those of words without nulls take fewer
// instructions.
func (a *arrangement) scanning(in op.View, by folding, whole bool, w deviceWriting, p presence) scanning {
	s := scanning{name: scanKernel(by.fold), scans: scanKernel(by.fold), before: []any{a.argument()}}
	isWord := by.format.Bytes == 8 && (by.fold == foldFloats || by.fold == foldIntegers)
	if isWord && !whole && a.listed.Len() == 0 && in.Valid.Len() == 0 {
		s.name = map[stateFold]string{foldFloats: "over_sums_floats", foldIntegers: "over_sums_integers"}[by.fold]
		s.before, s.behind = append(s.before, in.Values, by.argument()), []any{w.argument()}
		return s
	}
	ignored := uint32(0)
	if whole {
		ignored = 1
	}
	s.before = append(s.before, valuesArgument(in, by), by.argument())
	s.behind = []any{ignored, w.argument(), p.counts, p.places}
	return s
}

// scan folds the rows of each partition up to each row or, with the memory of presence,
// counts the values. whole ignores the partitions.
func (a *arrangement) scan(call *op.Call, in op.View, by folding, whole bool, w deviceWriting, p presence) error {
	return a.scanWith(call, by, a.scanning(in, by, whole, w, p))
}

// scanWith runs the kernels of a scan.
func (a *arrangement) scanWith(call *op.Call, by folding, s scanning) (err error) {
	count := tilesOf(a.rows, scanRows)
	groups := tilesOf(count, overThreads)
	var tiles, carries memory.Slice[uint8]
	rows := func(onlyFold uint32) error {
		return a.enqueue(call, s.name, count, slices.Concat(s.before, []any{tiles, carries, onlyFold}, s.behind)...)
	}
	if count == 1 {
		return rows(0)
	}
	block, scratch, err := call.Scratch(stateBytes*uint64(count), stateBytes*uint64(groups))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	tiles, carries = scratch[0], scratch[1]
	if err := rows(1); err != nil {
		return err
	}
	if err := a.enqueue(call, s.scans+"_tiles", groups, by.argument(), tiles, carries, uint32(count)); err != nil {
		return err
	}
	if err := a.enqueue(call, s.scans+"_carries", 1, by.argument(), carries, uint32(groups)); err != nil {
		return err
	}
	return rows(0)
}

// enqueue enqueues a kernel with a number of blocks.
func (a *arrangement) enqueue(call *op.Call, name string, blocks int, arguments ...any) error {
	f, err := call.Kernel(&set, "over", name)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: overThreads}, 0, arguments...)
}

// quantile finds a quantile of each frame. Short frames are ranked in shared memory.
func (a *arrangement) quantile(call *op.Call, in op.View, by folding, w deviceWriting, frame *framing, q float64) error {
	around := frame.before + frame.after
	if around > quantileRows-leastRolled {
		return a.launch(call, "over_quantile", a.argument(), frame.argument(), valuesArgument(in, by), by.argument(), w.argument(), q)
	}
	f, err := call.Kernel(&set, "over", "over_quantile_near")
	if err != nil {
		return err
	}
	own := (quantileRows - int(around)) / 32 * 32
	places := max(min(own, a.rows)+int(around), 32)
	exponent := bits.Len(uint(places - 1))
	return f.Launch(call.Stream, device.Dim3{X: uint32(tilesOf(a.rows, own))}, device.Dim3{X: quantileThreads}, 0,
		a.argument(), frame.argument(), valuesArgument(in, by), by.argument(), w.argument(), q,
		uint32(frame.before), uint32(own), uint32(1)<<exponent, uint32(exponent))
}

// rollKernel returns the kernel of frames in shared memory for a fold. Those of frequent
// folds know them when they are compiled.
func rollKernel(fold stateFold, nulls bool) string {
	switch {
	case fold == foldFloats && nulls:
		return "over_roll_floats_nulls"
	case fold == foldFloats:
		return "over_roll_floats"
	case fold == foldLeast && nulls:
		return "over_roll_least_nulls"
	case fold == foldLeast:
		return "over_roll_least"
	case fold == foldIntegers && !nulls:
		return "over_roll_integers"
	case fold == foldMoments && !nulls:
		return "over_roll_moments"
	}
	return "over_roll"
}

// roll folds the frames. Short ones are folded in shared memory.
func (a *arrangement) roll(call *op.Call, in op.View, by folding, w deviceWriting, frame *framing) error {
	if frame.before+frame.after > rollRows-leastRolled {
		return a.rollLong(call, in, by, w, frame)
	}
	if name := slideKernel(by.fold); name != "" && frame.slides(a) && in.Valid.Len() == 0 {
		return a.slide(call, name, in, by, w, frame)
	}
	f, err := call.Kernel(&set, "over", rollKernel(by.fold, in.Valid.Len() > 0))
	if err != nil {
		return err
	}
	own := (rollRows - int(frame.before+frame.after)) / 32 * 32
	return f.Launch(call.Stream, device.Dim3{X: uint32(tilesOf(a.rows, own))}, device.Dim3{X: rollThreads}, 0,
		a.argument(), frame.argument(), valuesArgument(in, by), by.argument(), w.argument(),
		uint32(frame.before), uint32(own), uint32(frame.longest))
}

// slideKernel returns the kernel of frames in registers for a fold, if there is one.
func slideKernel(fold stateFold) string {
	switch fold {
	case foldFloats:
		return "over_slide_floats"
	case foldLeast:
		return "over_slide_least"
	}
	return ""
}

// slides reports whether the frames are short runs of rows of a table in order.
func (f *framing) slides(a *arrangement) bool {
	return f.lows.Len() == 0 && a.listed.Len() == 0 && f.low <= f.high && f.high-f.low < longestSlide
}

// slide folds short frames in registers.
func (a *arrangement) slide(call *op.Call, name string, in op.View, by folding, w deviceWriting, frame *framing) error {
	f, err := call.Kernel(&set, "over", name)
	if err != nil {
		return err
	}
	longest := int(frame.high - frame.low + 1)
	own := (slideRows - longest + 1) / 32 * 32
	blocks := tilesOf(tilesOf(a.rows, own), slideThreads/32)
	return f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: slideThreads}, 0,
		a.argument(), frame.argument(), valuesArgument(in, by), by.argument(), w.argument(), uint32(own), uint32(longest))
}

// rollLong folds the frames in memory, with one kernel for each bit of the longest length.
func (a *arrangement) rollLong(call *op.Call, in op.View, by folding, w deviceWriting, frame *framing) (err error) {
	bytes := stateBytes * uint64(a.rows)
	block, states, err := call.Scratch(bytes, bytes, bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	from, to, results := memory.Slice[uint8]{}, states[0], states[1]
	spare := states[2]
	for size := int64(0); size <= frame.longest; size = max(2*size, 1) {
		err := a.launch(call, "over_level", a.argument(), frame.argument(), valuesArgument(in, by), by.argument(), from, to, results, uint64(size))
		if err != nil {
			return err
		}
		if from.Len() == 0 {
			from = spare
		}
		from, to = to, from
	}
	return a.launch(call, "over_finish", a.argument(), by.argument(), results, w.argument())
}

// rangesOf finds the frames of a range of the values of a key.
func (a *arrangement) rangesOf(call *op.Call, r ranging) (*framing, error) {
	if a.rows == 0 {
		return &framing{}, nil
	}
	n := 4 * uint64(a.rows)
	call.Tag = op.ScratchTag
	block, slices, err := call.Allocate(n, n, 24)
	if err != nil {
		return nil, err
	}
	f := &framing{block: block}
	lows, lowsErr := memory.Reinterpret[uint32](slices[0])
	highs, highsErr := memory.Reinterpret[uint32](slices[1])
	extents, extentsErr := memory.Reinterpret[uint64](slices[2])
	f.lows, f.highs = lows, highs
	err = errors.Join(lowsErr, highsErr, extentsErr)
	switch {
	case err != nil:
	case call.OnHost():
		err = a.rangesOnHost(r, f)
	default:
		err = a.rangesOnDevice(call, r, f, extents)
	}
	if err != nil {
		return nil, fmt.Errorf("the frames: %w", errors.Join(err, block.Release()))
	}
	return f, nil
}

func (a *arrangement) rangesOnDevice(call *op.Call, r ranging, f *framing, extents memory.Slice[uint64]) error {
	if err := extents.AsBytes().Fill(call.Stream, 0); err != nil {
		return err
	}
	by := rangesLayout{
		key: layoutOf(r.key), lows: layoutOf(r.lows), highs: layoutOf(r.highs), low: r.low, high: r.high, format: formatCode(r.format),
		unbounded:  kernelset.Flag(r.noLow) | kernelset.Flag(r.noHigh)<<1,
		descending: kernelset.Flag(r.descending), nullsFirst: kernelset.Flag(r.nullsUp), behind: r.behind(),
	}
	if err := a.launch(call, "over_ranges", a.argument(), by.asArgument(), f.lows, f.highs, extents); err != nil {
		return err
	}
	var reach [3]uint64
	if err := extents.Download(a.ctx, call.Stream, reach[:]); err != nil {
		return err
	}
	f.before, f.after, f.longest = int64(reach[0]), int64(reach[1]), int64(reach[2])
	return nil
}
