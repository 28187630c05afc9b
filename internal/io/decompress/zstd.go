package decompress

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// mostWindow is the largest window of the format.
const mostWindow = 1<<41 + 7<<38

// zstdDecoder is shared by all calls. It decompresses as many pages at a time as there are
// processors. Checksums are not compared, as on GPUs.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxWindow(mostWindow),
		zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true))
})

func zstdOnHost(to, from []byte) Status {
	decoder, err := zstdDecoder()
	if err != nil {
		return Refused
	}
	plain, err := decoder.DecodeAll(from, to[:0])
	switch {
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return Dictionary
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return Long
	case err != nil:
		return Refused
	case len(plain) != len(to):
		return Short
	}
	copy(to, plain) // no copy if plain is to
	return Complete
}

// zstdMemory is the memory of the phases: Memory of zstd_blocks.cuh. Pages that need more are
// decompressed without it, by a warp for each page.
type zstdMemory struct{ pages, blocks, literals, sequences uint64 }

// zstdRound is the output of a round of launches, which use the same memory. Tests set it.
var zstdRound uint64 = 1 << 30

const (
	// zstdBlockBytes and zstdSequenceBytes are the bytes of output for which there is memory for a
	// block and for a sequence. Writers make blocks of 128 KiB, and smaller ones at high levels.
	zstdBlockBytes, zstdSequenceBytes = 16 << 10, 6
	// zstdBlock is the size of Block, zstdUsed that of Used, zstdPlan that of Plan.
	zstdBlock, zstdUsed, zstdPlan = 80, 24, 8
	// warpBlocks is the number of blocks that a warp decodes.
	warpBlocks = 8
	// planThreads is the number of threads of a block that plan pages.
	planThreads = 32
	// writeThreads is the number of threads that write a page.
	writeThreads = 128
)

// zstdRounds returns the number of pages of each round, and its memory.
func zstdRounds(size Size) (pages int, m zstdMemory) {
	rounds := max(1, (size.Length+zstdRound-1)/zstdRound)
	pages = int((uint64(size.Pages) + rounds - 1) / rounds)
	length := (size.Length + rounds - 1) / rounds
	m.pages = uint64(pages)
	m.blocks = 4*m.pages + length/zstdBlockBytes
	m.literals = length + 16*m.blocks // blocks begin at multiples of 16
	m.sequences = length/zstdSequenceBytes + m.blocks
	return pages, m
}

func (m zstdMemory) bytes() []uint64 {
	return []uint64{zstdUsed, zstdPlan * m.pages, zstdBlock * m.blocks, m.literals, 8 * m.sequences}
}

func zstdScratch(size Size) uint64 {
	_, m := zstdRounds(size)
	bytes, err := op.Bytes(m.bytes()...)
	if err != nil {
		return 0 // Launch returns the error
	}
	return bytes
}

// launchZstd decodes all blocks of all pages at the same time. If there is no memory for that, a warp
// decodes each page.
func launchZstd(call *op.Call, batch Batch) error {
	pages, m := zstdRounds(batch.Size)
	block, scratch, err := call.Scratch(m.bytes()...)
	switch {
	case errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory):
		return launchZstdPages(call, batch, batch.Pages, batch.Status, memory.Slice[uint8]{})
	case err != nil:
		return err
	}
	for first := 0; first < batch.Size.Pages && err == nil; first += pages {
		err = launchZstdRound(call, batch, first, min(pages, batch.Size.Pages-first), m, scratch)
	}
	return errors.Join(err, block.Release())
}

// launchZstdRound launches the phases for n pages.
func launchZstdRound(call *op.Call, batch Batch, first, n int, m zstdMemory, scratch []memory.Slice[uint8]) error {
	pages, pagesErr := batch.Pages.Slice(first*PageWords, (first+n)*PageWords)
	status, statusErr := batch.Status.Slice(first, first+n)
	if err := errors.Join(pagesErr, statusErr, scratch[0].Fill(call.Stream, 0)); err != nil {
		return err
	}
	working := kernels.Struct(scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], m.blocks, m.literals, m.sequences)
	warps := int(m.blocks+warpBlocks-1) / warpBlocks
	for _, phase := range []struct {
		entry         string
		grid, threads int
		arguments     []any
	}{
		{"zstd_plan", (n + planThreads - 1) / planThreads, planThreads,
			[]any{pages, uint32(n), batch.Input, batch.Input.Bytes(), batch.Output.Bytes(), status, working}},
		{"zstd_decode", 2 * warps, warp, []any{pages, batch.Input, status, working}},
		{"zstd_write", n, writeThreads, []any{pages, batch.Input, batch.Output, status, working}},
	} {
		f, err := call.Kernel(&set, "zstd_blocks", phase.entry)
		if err != nil {
			return err
		}
		grid, threads := device.Dim3{X: uint32(phase.grid)}, device.Dim3{X: uint32(phase.threads)}
		if err := f.Launch(call.Stream, grid, threads, 0, phase.arguments...); err != nil {
			return err
		}
	}
	return launchZstdPages(call, batch, pages, status, scratch[1])
}

// launchZstdPages decompresses pages by a warp each: those that have no plan, if there are plans.
func launchZstdPages(call *op.Call, batch Batch, pages memory.Slice[uint64], status memory.Slice[uint32], plans memory.Slice[uint8]) error {
	f, err := call.Kernel(&set, "zstd", "zstd")
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(status.Len())}, device.Dim3{X: warp}, 0, pages,
		batch.Input, batch.Input.Bytes(), batch.Output, batch.Output.Bytes(), status, plans)
}
