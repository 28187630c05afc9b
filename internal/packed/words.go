package packed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/memory"
)

// WordPacker packs memory of a device, on the device, as words without their meaning. Kernels read and write host memory
// over the link, so that they need no memory of the device, which is short when tables are spilled.
type WordPacker struct{}

var _ spill.Packer = WordPacker{}

// wordGain is the part of words, as a divisor, that is saved at least if they are packed.
const wordGain = 8

// wordSource is Source of words.cu.
type wordSource struct {
	from, to   uint64
	rows, kind uint32
}

// wordPacking implements [spill.Packing].
type wordPacking struct {
	words  []spill.Words
	kinds  []kind
	packs  []bool
	blocks []wordBlock
	// bytes is the length of the lists and of the blocks behind them.
	bytes uint64
}

// wordBlock is a packed block of words.
type wordBlock struct {
	// words is their number, first the number of their first one in the block.
	words, first, rows int
	tiles              []tile
	// at is the place of the block.
	at     uint64
	length int
}

// wordKind returns the kind of words of a length.
func wordKind(width int) (k kind, ok bool) {
	switch width {
	case 1:
		return integers1, true
	case 2:
		return integers2, true
	case 4:
		return integers4, true
	case 8:
		return integers8, true
	case 16:
		return decimals, true
	}
	return 0, false
}

// Measure implements [spill.Packer].
func (WordPacker) Measure(ctx context.Context, stream *device.Stream, words []spill.Words, allocate func(bytes uint64) (*memory.Block, error)) (_ spill.Packing, err error) {
	p := &wordPacking{words: words}
	for i, w := range words {
		k, ok := wordKind(w.Width)
		if ok = ok && w.Bytes%uint64(w.Width) == 0 && uint64(w.Pointer)%uint64(w.Width) == 0; !ok {
			return nil, fmt.Errorf("packed: measure: words %d: %d bytes of width %d at %#x: %w", i, w.Bytes, w.Width, w.Pointer, device.ErrInvalidValue)
		}
		p.kinds, p.packs = append(p.kinds, k), append(p.packs, w.Bytes/uint64(w.Width) <= math.MaxInt32)
		p.addBlocks(i)
	}
	if len(p.blocks) == 0 {
		return p, nil
	}
	if err := p.measure(ctx, stream, allocate); err != nil {
		return nil, fmt.Errorf("packed: measure: %w", err)
	}
	p.choose()
	return p, nil
}

// addBlocks adds the blocks of words.
func (p *wordPacking) addBlocks(words int) {
	if !p.packs[words] {
		return
	}
	w := &p.words[words]
	rows := int(w.Bytes / uint64(w.Width))
	for first := 0; first < rows; first += BlockRows {
		p.blocks = append(p.blocks, wordBlock{words: words, first: first, rows: min(BlockRows, rows-first)})
	}
}

// measure finds the forms of the tiles.
func (p *wordPacking) measure(ctx context.Context, stream *device.Stream, allocate func(bytes uint64) (*memory.Block, error)) (err error) {
	sources := uint64(len(p.blocks)) * uint64(unsafe.Sizeof(wordSource{}))
	all := len(p.blocks) * blockTiles
	scratch, err := allocate(sources + uint64(all)*uint64(tileBytes))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Release()) }()
	at := scratch.Pointer()
	p.writeSources(address.Bytes(at, sources), 0)
	tiles := at + device.Pointer(sources)
	if err := p.launch(ctx, stream, "words", "measure_words", at, uint64(tiles)); err != nil {
		return err
	}
	list := address.ValuesOf[tile](address.Bytes(tiles, uint64(all)*uint64(tileBytes)))
	for i := range p.blocks {
		b := &p.blocks[i]
		b.tiles = append(b.tiles, list[i*blockTiles:i*blockTiles+tileCount(b.rows)]...)
	}
	return nil
}

// writeSources writes the list of blocks. Places in them are after an address.
func (p *wordPacking) writeSources(to []byte, base uint64) {
	list := address.ValuesOf[wordSource](to)
	for i, b := range p.blocks {
		w := &p.words[b.words]
		list[i] = wordSource{from: uint64(w.Pointer) + uint64(b.first*w.Width), to: base + b.at, rows: uint32(b.rows), kind: uint32(p.kinds[b.words])}
	}
}

// launch runs a kernel with a block of threads for each tile, and waits for it: the device uses the memory until then,
// also if the context ends.
func (p *wordPacking) launch(ctx context.Context, stream *device.Stream, file, entry string, args ...any) error {
	if ctx.Err() != nil {
		return cancel.Error(ctx)
	}
	kernel, err := set.Kernel(ctx, stream.Device(), file, entry)
	if err != nil {
		return err
	}
	grid := device.Dim3{X: uint32(len(p.blocks) * blockTiles)}
	err = kernel.Launch(stream, grid, device.Dim3{X: unpackThreads}, 0, args...)
	return errors.Join(err, stream.Synchronize(context.WithoutCancel(ctx)))
}

// choose drops words that take about as many bytes packed, and places the blocks of the others.
func (p *wordPacking) choose() {
	lengths := make([]uint64, len(p.words))
	for i := range p.blocks {
		b := &p.blocks[i]
		b.length = len(b.tiles) * int(tileBytes)
		for k := range b.tiles {
			t := &b.tiles[k]
			size := int(t.data)
			t.data = uint32(b.length)
			b.length += size
		}
		b.length += padding
		lengths[b.words] += uint64(b.length)
	}
	for i, w := range p.words {
		p.packs[i] = p.packs[i] && lengths[i] <= w.Bytes-w.Bytes/wordGain
	}
	kept := p.blocks[:0]
	for _, b := range p.blocks {
		if p.packs[b.words] {
			kept = append(kept, b)
		}
	}
	p.blocks = kept
	p.place()
}

// place places the blocks behind the lists.
func (p *wordPacking) place() {
	p.bytes = p.lists().end
	for i := range p.blocks {
		p.blocks[i].at = p.bytes
		p.bytes += uint64(p.blocks[i].length)
	}
}

// Divide implements [spill.Packing].
func (p *wordPacking) Divide(most uint64) (pieces []spill.Packing) {
	lists := p.lists().end // longer than those of a piece
	for first := 0; first < len(p.blocks); {
		n, bytes := 1, lists+uint64(p.blocks[first].length)
		for first+n < len(p.blocks) && bytes+uint64(p.blocks[first+n].length) <= most {
			bytes += uint64(p.blocks[first+n].length)
			n++
		}
		piece := *p
		piece.blocks = slices.Clone(p.blocks[first : first+n])
		piece.place()
		pieces, first = append(pieces, &piece), first+n
	}
	return pieces
}

// wordLists are the places of the lists before the blocks. Those of columns begin at 0.
type wordLists struct{ blocks, sources, outcomes, end uint64 }

func (p *wordPacking) lists() (l wordLists) {
	n := uint64(len(p.blocks))
	l.blocks = uint64(len(p.words)) * uint64(unsafe.Sizeof(deviceColumn{}))
	l.sources = l.blocks + n*uint64(unsafe.Sizeof(deviceBlock{}))
	l.outcomes = l.sources + n*uint64(unsafe.Sizeof(wordSource{}))
	l.end = l.outcomes + (4*n+7)/8*8
	return l
}

// Packs implements [spill.Packing].
func (p *wordPacking) Packs(number int) bool { return p.packs[number] }

// Bytes implements [spill.Packing].
func (p *wordPacking) Bytes() uint64 { return p.bytes }

// Pack implements [spill.Packing].
func (p *wordPacking) Pack(ctx context.Context, stream *device.Stream, to device.Pointer) error {
	if len(p.blocks) == 0 {
		return nil
	}
	l := p.lists()
	for i := range p.blocks {
		b := &p.blocks[i]
		copy(address.Bytes(to+device.Pointer(b.at), uint64(b.length)), address.BytesOf(b.tiles))
		b.tiles = nil
	}
	p.writeSources(address.Bytes(to+device.Pointer(l.sources), l.outcomes-l.sources), uint64(to))
	if err := p.launch(ctx, stream, "words", "pack_words", to+device.Pointer(l.sources)); err != nil {
		return fmt.Errorf("packed: pack words: %w", err)
	}
	return nil
}

// Unpack implements [spill.Packing].
func (p *wordPacking) Unpack(ctx context.Context, stream *device.Stream, from device.Pointer, to []device.Pointer) error {
	if len(p.blocks) == 0 {
		return nil
	}
	l := p.lists()
	lists := address.Bytes(from, l.end)
	columns, blocks := address.ValuesOf[deviceColumn](lists[:l.blocks]), address.ValuesOf[deviceBlock](lists[l.blocks:l.sources])
	outcomes := address.ValuesOf[uint32](lists[l.outcomes:])
	clear(outcomes)
	for i, k := range p.kinds {
		columns[i] = deviceColumn{values: uint64(to[i]), kind: uint32(k)}
	}
	for i, b := range p.blocks {
		blocks[i] = deviceBlock{bytes: uint64(from) + b.at, row: uint32(b.first), rows: uint32(b.rows), length: uint32(b.length), column: uint32(b.words)}
	}
	err := p.launch(ctx, stream, "values", "unpack_words", from, from+device.Pointer(l.blocks), from+device.Pointer(l.outcomes))
	for i := 0; err == nil && i < len(p.blocks); i++ {
		if outcomes[i] != 0 {
			err = p.damage(i, ErrDamaged)
		}
	}
	if err != nil {
		return fmt.Errorf("packed: unpack words: %w", err)
	}
	return nil
}

// damage returns the error of a block.
func (p *wordPacking) damage(block int, err error) error {
	b := &p.blocks[block]
	return &Error{Column: b.words, Block: b.first / BlockRows, Err: err}
}

// UnpackOnHost implements [spill.Packing].
func (p *wordPacking) UnpackOnHost(ctx context.Context, from device.Pointer, to [][]byte) error {
	err := eachTask(ctx, len(p.blocks), func(i int) error {
		b := &p.blocks[i]
		u := hostUnpacker{kind: p.kinds[b.words], hostMemory: hostMemory{numbers: arrowmemory.NewBufferBytes(to[b.words])}, row: b.first}
		if err := u.block(&Block{Rows: b.rows, Bytes: address.Bytes(from+device.Pointer(b.at), uint64(b.length))}); err != nil {
			return p.damage(i, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("packed: unpack words: %w", err)
	}
	return nil
}

// The size of the description is that which kernels read.
var _ [24]byte = [unsafe.Sizeof(wordSource{})]byte{}
