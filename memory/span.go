package memory

import (
	"context"
	"fmt"
	"sort"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/address"
)

// span is a run of device memory and the pieces of host memory that belong to
// it, in ascending order of their offsets from its beginning.
type span struct {
	block  *Block
	base   device.Pointer
	bytes  uint64
	pieces []piece
}

// piece is a part of a span: memory that exists, or a function that makes it.
type piece struct {
	offset, bytes uint64
	data          []byte
	fill          func(destination []byte, offset uint64)
}

func (p piece) end() uint64 { return p.offset + p.bytes }

// uploadSpan checks the sources against their destination.
func uploadSpan(destination Slice[uint8], sources []Source) (*span, error) {
	s := &span{
		block: destination.block, base: destination.Pointer(), bytes: destination.Bytes(),
		pieces: make([]piece, 0, len(sources)),
	}
	var end uint64
	for i, source := range sources {
		p := piece{offset: source.Offset, bytes: source.Bytes, data: source.Data, fill: source.Fill}
		if p.fill == nil && p.bytes != 0 || p.fill != nil && p.data != nil {
			return nil, fmt.Errorf("source %d: want Data, or Fill and Bytes: %w", i, device.ErrInvalidValue)
		}
		if p.fill == nil {
			p.bytes = uint64(len(p.data))
		}
		if p.offset < end {
			return nil, fmt.Errorf("source %d begins at %d, before the one ahead of it ends at %d: %w", i, p.offset, end, ErrRange)
		}
		if p.offset > s.bytes || p.bytes > s.bytes-p.offset {
			return nil, fmt.Errorf("source %d: %d bytes at offset %d of a destination of %d: %w", i, p.bytes, p.offset, s.bytes, ErrRange)
		}
		end = p.end()
		if p.bytes > 0 {
			s.pieces = append(s.pieces, p)
		}
	}
	return s, nil
}

// widestGap is how many bytes between two regions are copied needlessly rather
// than by a transfer of their own, which costs as much as about 64 KiB on the
// link. Packed buffers lie closer than this.
const widestGap = 4096

// downloadSpans groups destinations whose regions follow one another closely.
func downloadSpans(destinations []Destination) ([]*span, error) {
	var spans []*span
	var last *span
	for i, d := range destinations {
		if d.From.Bytes() != uint64(len(d.Data)) {
			return nil, fmt.Errorf("destination %d: %d bytes into %d: %w", i, d.From.Bytes(), len(d.Data), ErrRange)
		}
		if len(d.Data) == 0 {
			continue
		}
		if err := d.From.block.Check(); err != nil {
			return nil, fmt.Errorf("destination %d: %w", i, err)
		}
		at := d.From.Pointer()
		if last == nil || last.block != d.From.block || at < last.base.Add(last.bytes) || at > last.base.Add(last.bytes+widestGap) {
			last = &span{block: d.From.block, base: at}
			spans = append(spans, last)
		}
		offset := uint64(at - last.base)
		last.pieces = append(last.pieces, piece{offset: offset, bytes: uint64(len(d.Data)), data: d.Data})
		last.bytes = offset + uint64(len(d.Data))
	}
	return spans, nil
}

// first returns the index of the first piece that ends after the offset.
func (s *span) first(offset uint64) int {
	return sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].end() > offset })
}

// gather writes the span's bytes from offset on into destination, with zeros
// where no piece lies. What exists is moved by the given function.
func (s *span) gather(destination []byte, offset uint64, move func(destination, source []byte) int) {
	end := offset + uint64(len(destination))
	at := offset
	for i := s.first(offset); i < len(s.pieces) && s.pieces[i].offset < end; i++ {
		p := s.pieces[i]
		from, to := max(p.offset, offset), min(p.end(), end)
		clear(destination[at-offset : from-offset])
		if p.fill != nil {
			p.fill(destination[from-offset:to-offset], from-p.offset)
		} else {
			move(destination[from-offset:to-offset], p.data[from-p.offset:to-p.offset])
		}
		at = to
	}
	clear(destination[at-offset:])
}

// scatter copies the span's bytes from offset on to the pieces they belong to.
func (s *span) scatter(source []byte, offset uint64) {
	end := offset + uint64(len(source))
	for i := s.first(offset); i < len(s.pieces) && s.pieces[i].offset < end; i++ {
		p := s.pieces[i]
		from, to := max(p.offset, offset), min(p.end(), end)
		copy(p.data[from-p.offset:to-p.offset], source[from-offset:to-offset])
	}
}

// smallestDirectPiece is the length from which a pinned piece travels by a
// transfer of its own. To gather smaller ones with their neighbours is quicker,
// and to ask the driver what they are would cost more than it saves.
const smallestDirectPiece = 256 << 10

// splitPinned takes the pieces that lie in pinned memory out of the span. What is
// left are the runs between them.
func (s *span) splitPinned(dev *device.Device) (staged []*span, direct []piece) {
	var run []piece
	flush := func() {
		if len(run) > 0 {
			staged, run = append(staged, s.part(run)), nil
		}
	}
	for _, p := range s.pieces {
		if p.bytes >= smallestDirectPiece && p.fill == nil && isPinned(dev, p.data) {
			flush()
			direct = append(direct, p)
			continue
		}
		run = append(run, p)
	}
	if len(direct) == 0 {
		return []*span{s}, nil
	}
	flush()
	return staged, direct
}

// part returns the span from the first of some of its pieces to the last. It
// takes the pieces over.
func (s *span) part(pieces []piece) *span {
	start := pieces[0].offset
	part := &span{block: s.block, base: s.base.Add(start), bytes: pieces[len(pieces)-1].end() - start, pieces: pieces}
	for i := range pieces {
		pieces[i].offset -= start
	}
	return part
}

func isPinned(dev *device.Device, data []byte) bool {
	info, err := dev.Driver().PointerInfo(device.Pointer(uintptr(unsafe.Pointer(unsafe.SliceData(data)))))
	return err == nil && info.Kind == device.MemoryPinned
}

// writeInPlace gathers a span into memory that the processor can reach, once the
// stream's work is done.
func (s *span) writeInPlace(ctx context.Context, stream *device.Stream, workers *crew) error {
	if err := stream.Synchronize(ctx); err != nil {
		return err
	}
	memory := address.Bytes(s.base, s.bytes)
	parts := divide(cut([]*span{s}, defaultChunkBytes), workers.enough(s.bytes))
	return workers.run(ctx, len(parts), func(task int) error {
		from, to := parts[task].extent()
		s.gather(memory[from:to], from, through)
		return nil
	})
}

// through copies through the caches, for memory that the processor itself will
// read and for what will have left them when it is fetched.
func through(destination, source []byte) int { return copy(destination, source) }

// readInPlace is the reverse of writeInPlace.
func (s *span) readInPlace(ctx context.Context, stream *device.Stream, workers *crew) error {
	if err := stream.Synchronize(ctx); err != nil {
		return err
	}
	memory := address.Bytes(s.base, s.bytes)
	parts := divide(cut([]*span{s}, defaultChunkBytes), workers.enough(s.bytes))
	return workers.run(ctx, len(parts), func(task int) error {
		from, to := parts[task].extent()
		s.scatter(memory[from:to], from)
		return nil
	})
}
