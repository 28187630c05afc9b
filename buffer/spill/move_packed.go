package spill

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	// leastWords is the length of a buffer that is packed: smaller ones are a call to copy.
	leastWords = 64 << 10
	// packedShare is the part of a table, as a divisor, that is saved at least if it is packed.
	packedShare = 4
	// bufferAlignment is a multiple of which the buffers of a block begin.
	bufferAlignment = 64
)

// form is how one block of host memory, or a region of a file, has the contents of a table: pieces of packed words, and
// behind them the parts that are not packed.
type form struct {
	pieces []Packing
	words  []part
	plain  []part
	bytes  uint64
}

// wholeForm is the form of a table that is not packed.
func (t *Table) wholeForm() *form {
	f := &form{bytes: t.bytes}
	for i, home := range t.homes {
		f.plain = append(f.plain, part{block: i, bytes: home.bytes})
	}
	return f
}

// packedBytes is the length of the pieces.
func (f *form) packedBytes() (bytes uint64) {
	for _, piece := range f.pieces {
		bytes += piece.Bytes()
	}
	return bytes
}

// part is a part of a block of a table.
type part struct {
	block         int
	offset, bytes uint64
	width         int // of words, or 0
}

// parts divides the memory of a table into words and the rest.
func (t *Table) parts() (words, plain []part) {
	places := make([][]part, len(t.homes))
	t.skeleton.Buffers(func(p column.Place, element int) {
		places[p.Block] = append(places[p.Block], part{p.Block, p.Offset, uint64(p.Bytes), element})
	})
	for block, list := range places {
		slices.SortFunc(list, func(a, b part) int { return cmp.Compare(a.offset, b.offset) })
		at, end := uint64(0), t.homes[block].bytes
		rest := func(to uint64) {
			if to > at {
				plain = append(plain, part{block: block, offset: at, bytes: to - at})
			}
		}
		for i, p := range list {
			next := end
			if i+1 < len(list) {
				next = list[i+1].offset
			}
			// What is between buffers is part of the one before.
			last := min((p.offset+p.bytes+bufferAlignment-1)/bufferAlignment*bufferAlignment, next)
			if p.offset < at || last < p.offset || !p.areWords(last) {
				continue
			}
			rest(p.offset)
			p.bytes = (last - p.offset) / uint64(p.width) * uint64(p.width)
			words = append(words, p)
			at = p.offset + p.bytes
		}
		rest(end)
	}
	return words, plain
}

// areWords reports whether a buffer up to an offset may be packed.
func (p part) areWords(end uint64) bool {
	switch p.width {
	case 1, 2, 4, 8, 16:
		return p.offset%uint64(p.width) == 0 && end-p.offset >= leastWords
	}
	return false
}

// measure returns the form of idle blocks of a table that becomes much smaller packed, or nil.
func (s *Spiller) measure(ctx context.Context, t *Table) (*form, error) {
	if s.packer == nil || s.out.Device().Kind() == device.Host {
		return nil, nil
	}
	f := &form{}
	f.words, f.plain = t.parts()
	if sum(f.words) < t.bytes/packedShare {
		return nil, nil
	}
	if err := s.waitForStreams(t.blocks); err != nil {
		return nil, err
	}
	words := make([]Words, len(f.words))
	for i, p := range f.words {
		words[i] = Words{p.pointer(t.blocks), p.bytes, p.width}
	}
	packing, err := s.packer.Measure(ctx, s.out, words, func(bytes uint64) (*memory.Block, error) {
		return s.beyond.Allocate(bytes, memory.AllocateOptions{Tag: "tiles", Stream: s.out})
	})
	if errors.Is(err, device.ErrOutOfMemory) {
		return nil, nil // of pinned memory, or of kernels that are loaded: the copy takes less
	}
	if err != nil {
		return nil, err
	}
	for i, p := range f.words {
		if !packing.Packs(i) {
			f.plain = append(f.plain, p)
		}
	}
	f.pieces = []Packing{packing}
	if f.bytes = packing.Bytes() + sum(f.plain); f.bytes > t.bytes-t.bytes/packedShare {
		return nil, nil
	}
	return f, nil
}

func sum(parts []part) (bytes uint64) {
	for _, p := range parts {
		bytes += p.bytes
	}
	return bytes
}

// divide divides the packed words into pieces of up to a number of bytes, and reports whether that is possible: lists of
// very many buffers are longer.
func (f *form) divide(most uint64) bool {
	f.pieces = f.pieces[0].Divide(most)
	f.bytes = f.packedBytes() + sum(f.plain)
	return !slices.ContainsFunc(f.pieces, func(piece Packing) bool { return piece.Bytes() > most })
}

// pack packs idle blocks of a table into host memory, and waits. It returns no memory if the table is not to be packed.
func (s *Spiller) pack(ctx context.Context, t *Table) (hosts []*memory.Block, f *form, err error) {
	f, err = s.measure(ctx, t)
	if f == nil {
		return nil, nil, err
	}
	host, err := s.allocateHost(ctx, f.bytes, t.homes[0].tag)
	if err != nil {
		return nil, nil, err
	}
	hosts = []*memory.Block{host}
	if err = s.copyPlain(s.out, f, host, t.blocks, true); err == nil {
		err = f.pieces[0].Pack(ctx, s.out, host.Pointer())
	}
	if err = errors.Join(err, s.out.Synchronize(context.WithoutCancel(ctx))); err != nil {
		return nil, nil, s.abandon(t.blocks, hosts, err)
	}
	return hosts, f, nil
}

// copyPlain enqueues copies of the parts that are not packed.
func (s *Spiller) copyPlain(stream *device.Stream, f *form, host *memory.Block, blocks []*memory.Block, out bool) error {
	driver := stream.Device().Driver()
	at := host.Pointer() + device.Pointer(f.packedBytes())
	return stream.Enqueue(func(handle backend.Stream) error {
		for _, p := range f.plain {
			var err error
			if out {
				err = driver.CopyToHostAsync(address.Pointer(at), p.pointer(blocks), p.bytes, handle)
			} else {
				err = driver.CopyToDeviceAsync(p.pointer(blocks), address.Pointer(at), p.bytes, handle)
			}
			if err != nil {
				return err
			}
			at += device.Pointer(p.bytes)
		}
		return nil
	})
}

// unpack unpacks a table to new blocks on the device, and waits.
func (s *Spiller) unpack(ctx context.Context, t *Table) (blocks []*memory.Block, err error) {
	if blocks, err = allocateHomes(ctx, t.homes); err != nil {
		return nil, err
	}
	if err = s.inWaitsFor(blocks); err == nil {
		err = s.copyPlain(s.in, t.form, t.blocks[0], blocks, false)
	}
	if err == nil {
		err = t.form.pieces[0].Unpack(ctx, s.in, t.blocks[0].Pointer(), t.form.pointers(blocks))
	}
	if err = errors.Join(err, s.in.Synchronize(context.WithoutCancel(ctx))); err != nil {
		return s.pending(blocks, t.blocks, err)
	}
	return arrived(blocks), nil
}

// unpackOnHost unpacks a table to host memory beyond the budget.
func (s *Spiller) unpackOnHost(ctx context.Context, t *Table) (blocks []*memory.Block, err error) {
	if blocks, err = s.allocateBeyond(t.homes); err == nil {
		err = t.form.pieces[0].UnpackOnHost(ctx, t.blocks[0].Pointer(), t.form.memory(blocks))
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	from := address.Bytes(t.blocks[0].Pointer(), t.form.bytes)[t.form.packedBytes():]
	for _, p := range t.form.plain {
		from = from[copy(p.memory(blocks), from):]
	}
	return blocks, nil
}

// pointers are the places of the words in blocks on the device.
func (f *form) pointers(blocks []*memory.Block) (to []device.Pointer) {
	for _, p := range f.words {
		to = append(to, p.pointer(blocks))
	}
	return to
}

// memory is the memory of the words in blocks on the host.
func (f *form) memory(blocks []*memory.Block) (to [][]byte) {
	for _, p := range f.words {
		to = append(to, p.memory(blocks))
	}
	return to
}

// pointer is the place of the part in blocks.
func (p part) pointer(blocks []*memory.Block) device.Pointer {
	return blocks[p.block].Pointer() + device.Pointer(p.offset)
}

// memory is the memory of the part in blocks on the host.
func (p part) memory(blocks []*memory.Block) []byte {
	return address.Bytes(p.pointer(blocks), p.bytes)
}
