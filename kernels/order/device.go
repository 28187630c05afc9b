package order

import (
	"embed"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	topThreads  = 256
	sortThreads = 1024
	digitBits   = 11
	// residentBlocks is the number of blocks that the registers of a multiprocessor of
	// the largest devices allow.
	residentBlocks = 4
	// selectionBytes is the size of the kernels' Selection.
	selectionBytes = 6*8 + 8<<digitBits
	// collectedOffset is where the number of entries lies in it.
	collectedOffset = 32
	entryBytes      = 16
	// tilesOffset is where the state of the tiles begins in the scratch memory.
	tilesOffset = (selectionBytes + 255) / 256 * 256
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/entries cuda
//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

// set has the templates of the first rows, and the kernels of other operators.
var set = kernelset.Set{Files: code, Directory: "cuda", Entries: entries}

// flipMask returns the bits to invert so that the first value has the least key.
func (s *topSelection) flipMask() uint64 {
	mask := uint64(0)
	if s.number.Class == numbers.Signed {
		mask = 1 << (s.number.Bits() - 1)
	}
	if !s.smallest {
		mask = ^mask
	}
	return mask
}

// tileBytes is the part of the column that one block loads at a time.
func (s *topSelection) tileBytes() int {
	loads := [...]int{1: 1, 2: 2, 4: 4, 8: 4}[s.number.Bytes]
	return topThreads * 16 * loads
}

// mostGathered is the largest k for which entries are collected. One block sorts up to MaxTop of
// them, otherwise several do.
const mostGathered = 1 << 16

// gathers reports whether the kernels find the first k values: few of many rows.
func (s *topSelection) gathers() bool {
	rank, _ := s.guess()
	return s.k <= MaxTop || s.k <= mostGathered && rank > 0
}

// entries returns the number of entries that may be collected: k, and some that save counting
// further digits.
func (s *topSelection) entries() int {
	if s.k <= MaxTop {
		return MaxTop
	}
	return 2 * s.k
}

// scratchBytes returns the sizes of the memory of the kernels: the selection and the tiles that
// blocks scan, entries, and candidates. A column that is sorted as a whole needs none.
func (s *topSelection) scratchBytes(onHost bool) []uint64 {
	if onHost || s.in.Rows <= MaxTop {
		return nil
	}
	_, candidates := s.guess()
	return []uint64{tilesOffset + lookback.Bytes(uint64(s.tiles()), 8), uint64(s.entries()) * entryBytes, uint64(candidates) * entryBytes}
}

const (
	sampleThreads, samplesEach = 1024, 16
	// guessRows is the fewest rows for which a sample is worth two more launches.
	guessRows = 1 << 15
)

// guess returns the rank, among the least keys of each sampling thread, of the key that
// candidates do not exceed, and the space for candidates. Both are 0 if k is too large a part
// of the rows.
//
// Of the sampled keys, expected are among the first k. Four standard deviations and seven
// more make fewer than k candidates improbable.
func (s *topSelection) guess() (rank, candidates int) {
	if s.in.Rows < guessRows {
		return 0, 0
	}
	n := float64(s.in.Rows)
	expected := sampleThreads * samplesEach * float64(s.k) / n
	least := math.Ceil(expected + 4*math.Sqrt(expected) + 7)
	// A key has rank least among the minima of the threads if this part of the keys is below it.
	part := 1 - math.Pow(1-least/sampleThreads, 1.0/samplesEach)
	candidates = max(8*MaxTop, s.in.Rows/64)
	if least >= sampleThreads || 2*part*n > float64(candidates) {
		return 0, 0
	}
	return int(least), candidates
}

func (s *topSelection) tiles() int {
	return (int(s.in.Values.Bytes()) + s.tileBytes() - 1) / s.tileBytes()
}

// launch counts the keys digit by digit from the highest digit down, collects those
// that may be among the first k, and sorts them. Only the device knows after how many
// digits the counting is done; the kernels of the remaining digits return immediately.
func (s *topSelection) launch(call *op.Call) error {
	if s.in.Rows <= MaxTop {
		return s.sort(call, memory.Slice[uint8]{}, memory.Slice[uint8]{})
	}
	block, buffers, err := call.Scratch(s.scratchBytes(false)...)
	if err != nil {
		return err
	}
	return errors.Join(s.launchWith(call, buffers), block.Release())
}

func (s *topSelection) launchWith(call *op.Call, buffers []memory.Slice[uint8]) error {
	scratch, entries, candidates := buffers[0], buffers[1], buffers[2]
	selection, err := scratch.Slice(0, selectionBytes)
	if err != nil {
		return err
	}
	state, err := scratch.Slice(tilesOffset, scratch.Len())
	if err != nil {
		return err
	}
	if err := scratch.Fill(call.Stream, 0); err != nil {
		return err
	}
	in, kernels := s.in, s.kernels()
	count, err := call.Instance(&set, &kernels.count)
	if err != nil {
		return err
	}
	collect, err := call.Instance(&set, &kernels.collect)
	if err != nil {
		return err
	}
	blocks := max(call.Stream.Device().Info().Multiprocessors, 1) * residentBlocks
	grid := device.Dim3{X: uint32(min(s.tiles(), blocks))}
	threads := device.Dim3{X: topThreads}
	most := uint32(0)
	if rank, space := s.guess(); rank > 0 {
		most = uint32(space)
		sample, err := call.Instance(&set, &kernels.sample)
		if err != nil {
			return err
		}
		gather, err := call.Instance(&set, &kernels.gather)
		if err != nil {
			return err
		}
		err = sample.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: sampleThreads}, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
			s.flipMask(), uint32(rank))
		if err != nil {
			return err
		}
		err = gather.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
			s.flipMask(), candidates, most)
		if err != nil {
			return err
		}
	}
	for shift := s.number.Bits(); shift > 0; {
		bits := min(shift, digitBits)
		shift -= bits
		err := count.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
			s.flipMask(), uint64(s.k), candidates, most, uint32(s.entries()), uint32(shift), uint32(bits))
		if err != nil {
			return err
		}
	}
	err = collect.Launch(call.Stream, grid, threads, 0, selection, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
		s.flipMask(), uint64(s.k), candidates, most, entries, uint32(s.entries()), state)
	if err != nil {
		return err
	}
	if s.k > MaxTop {
		return s.sortEntries(call, selection, entries)
	}
	return s.sort(call, selection, entries)
}

// sort sorts the collected entries or, without a selection, the whole column.
func (s *topSelection) sort(call *op.Call, selection, entries memory.Slice[uint8]) error {
	f, err := call.Instance(&set, &s.kernels().sort)
	if err != nil {
		return err
	}
	threads := sortThreads
	if selection.Len() == 0 {
		threads = min((s.in.Rows+31)/32*32, sortThreads)
	}
	in := s.in
	return f.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: uint32(threads)}, 0, s.values, s.rows, s.valid, s.count, selection, entries,
		in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), s.flipMask(), uint32(s.k))
}
