package share

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/memory"
)

// A block may contain more than the published columns show: rows outside a slice, columns
// outside a selection, strings that no view refers to. The collector finds the bytes that
// are shown and, in bitmaps, the bits.
//
// Values and the bytes of strings are copied on the device. The host rewrites bitmaps
// that do not begin at a byte, offsets that do not begin at zero, views, and the offsets
// of list views and dense unions: at most sixteen bytes for each row.

// mostParts is the number of pieces of one buffer that the device copies separately. If
// there are more, the host joins them.
const mostParts = 256

// content is one buffer of a copy.
type content struct {
	bytes     int
	fragments []fragment
}

// fragment is a range of bytes of a content: a copy of device memory, or bytes that the host
// rewrote.
type fragment struct {
	at   int // in the content
	from column.Place
	host []byte
}

// collector collects the bytes that columns show.
type collector struct {
	ctx context.Context
	// number returns the number of a buffer's block.
	number   func(*memory.Block) int
	contents []content
	// met are the contents that are one run of device bytes. Columns that share a buffer
	// share it in the copy too.
	met map[column.Place]int
	// seen are the bytes of each block that are shown, by the block's number.
	seen map[int][]span
}

// collect finds the bytes that a table's columns show. The returned descriptions contain
// numbers of contents where those of a table contain numbers of blocks.
func collect(ctx context.Context, table *buffer.Buffer, number func(*memory.Block) int) (*collector, []column.Description, error) {
	c := &collector{ctx: ctx, number: number, met: make(map[column.Place]int), seen: make(map[int][]span)}
	var columns []column.Description
	for i := range table.NumColumns() {
		shown := table.Column(i)
		described, err := c.column(shown, []span{{shown.Offset(), shown.Len()}})
		if err != nil {
			return nil, nil, fmt.Errorf("column %q: %w", table.Schema().Field(i).Name, err)
		}
		columns = append(columns, described)
	}
	return c, columns, nil
}

// column collects elements of a column. Spans count from the beginning of its buffers.
func (c *collector) column(source *column.Column, spans []span) (column.Description, error) {
	if err := c.ctx.Err(); err != nil {
		return column.Description{}, cancel.Error(c.ctx)
	}
	for _, s := range spans {
		if err := s.within(source.Offset() + source.Len()); err != nil {
			return column.Description{}, err
		}
	}
	spans = joined(spans)
	d := column.Description{Length: total(spans), Unique: len(spans) == 1 && source.Known().Unique == column.Yes}
	l, err := layout.Of(source.Type())
	if err != nil {
		return column.Description{}, fmt.Errorf("%w: %w", err, ErrType)
	}
	for range source.NumBuffers() {
		d.Buffers = append(d.Buffers, absent)
	}
	if l.HasValidity() && d.Length > 0 && source.Buffer(0).Len() > 0 {
		d.NullCount, err = c.validity(&d.Buffers[0], source, spans)
	}
	if err == nil {
		err = collectOf(l)(c, &d, source, spans)
	}
	return d, err
}

// absent is the place of a buffer that a column lacks.
var absent = column.Place{Block: -1}

// validity collects the bitmap and returns the number of nulls.
func (c *collector) validity(into *column.Place, source *column.Column, spans []span) (nulls int, err error) {
	var copied []byte
	if *into, copied, err = c.bits(source.Buffer(0), spans); err != nil || copied == nil {
		if nulls = source.NullCount(); nulls > 0 && total(spans) != source.Len() {
			nulls = column.UnknownNullCount
		}
		return nulls, err // the bitmap was taken unchanged
	}
	nulls = total(spans)
	for _, each := range copied {
		nulls -= bits.OnesCount8(each)
	}
	return nulls, nil
}

// child collects elements of a child. Spans count from its first element.
func (c *collector) child(d *column.Description, source *column.Column, spans []span) error {
	moved := make([]span, 0, len(spans))
	for _, s := range spans {
		if err := s.within(source.Len()); err != nil {
			return err
		}
		moved = append(moved, span{s.from + source.Offset(), s.length})
	}
	described, err := c.column(source, moved)
	d.Children = append(d.Children, described)
	return err
}

// raw collects spans of a buffer's bytes unchanged.
func (c *collector) raw(from column.Bytes, spans []span) (column.Place, error) {
	spans = joined(spans)
	for _, s := range spans {
		if err := s.within(from.Len()); err != nil {
			return absent, fmt.Errorf("a buffer: %w", err)
		}
	}
	if len(spans) > mostParts {
		bytes, err := c.fetch(from, spans)
		return c.add(content{bytes: len(bytes), fragments: []fragment{{host: bytes}}}), err
	}
	c.see(from, spans)
	whole := content{}
	for _, s := range spans {
		whole.fragments = append(whole.fragments, fragment{at: whole.bytes, from: c.place(from, s)})
		whole.bytes += s.length
	}
	return c.add(whole), nil
}

// place returns the place of a span of a buffer's bytes.
func (c *collector) place(from column.Bytes, s span) column.Place {
	return column.Place{Block: c.number(from.Block()), Offset: from.Offset() + uint64(s.from), Bytes: s.length}
}

// see records that bytes of a buffer are shown.
func (c *collector) see(from column.Bytes, spans []span) {
	if from.Len() == 0 {
		return
	}
	n := c.number(from.Block())
	for _, s := range spans {
		c.seen[n] = append(c.seen[n], span{s.from + int(from.Offset()), s.length})
	}
}

// add adds a content and returns its place.
func (c *collector) add(added content) column.Place {
	if added.bytes == 0 {
		return absent
	}
	whole := len(added.fragments) == 1 && added.fragments[0].host == nil
	if whole {
		if i, met := c.met[added.fragments[0].from]; met {
			return column.Place{Block: i, Bytes: added.bytes}
		}
		c.met[added.fragments[0].from] = len(c.contents)
	}
	c.contents = append(c.contents, added)
	return column.Place{Block: len(c.contents) - 1, Bytes: added.bytes}
}

// addHost adds bytes of the host.
func (c *collector) addHost(bytes []byte) column.Place {
	return c.add(content{bytes: len(bytes), fragments: []fragment{{host: bytes}}})
}

// fetch copies spans of a buffer's bytes to the host, concatenated, and records that they
// are shown.
func (c *collector) fetch(from column.Bytes, spans []span) ([]byte, error) {
	c.see(from, spans)
	return c.download(from, spans)
}

// download is like fetch for bytes that are read but not shown.
func (c *collector) download(from column.Bytes, spans []span) ([]byte, error) {
	bytes := make([]byte, total(spans))
	var destinations []memory.Destination
	at := 0
	for _, s := range spans {
		if err := s.within(from.Len()); err != nil {
			return nil, fmt.Errorf("a buffer: %w", err)
		}
		if s.length == 0 {
			continue
		}
		part, err := from.Slice(s.from, s.end())
		if err != nil {
			return nil, err
		}
		destinations = append(destinations, memory.Destination{From: part, Data: bytes[at : at+s.length]})
		at += s.length
	}
	if len(destinations) == 0 {
		return bytes, nil
	}
	return bytes, memory.Download(c.ctx, from.Block().WorkStream(), destinations)
}

// bits collects bits of a bitmap and moves the first one to the start of a byte. It also
// returns the bits, unless the bitmap could be taken unchanged.
func (c *collector) bits(from column.Bytes, spans []span) (column.Place, []byte, error) {
	if len(spans) == 1 && spans[0].from%8 == 0 {
		whole := span{spans[0].from / 8, spans[0].length / 8}
		rest := spans[0].length % 8
		if err := (span{whole.from, bytesOfBits(spans[0].length)}).within(from.Len()); err != nil {
			return absent, nil, fmt.Errorf("a bitmap: %w", err)
		}
		if rest == 0 {
			place, err := c.raw(from, []span{whole})
			return place, nil, err
		}
		last, err := c.download(from, []span{{whole.end(), 1}})
		if err != nil {
			return absent, nil, err
		}
		if last[0]>>rest == 0 { // the bits outside the span are zero
			place, err := c.raw(from, []span{{whole.from, whole.length + 1}})
			return place, nil, err
		}
	}
	packed := make([]byte, bytesOfBits(total(spans)))
	at := 0
	for _, s := range spans {
		first := s.from / 8
		bytes := span{first, bytesOfBits(s.from%8+s.length) * min(s.length, 1)}
		if err := bytes.within(from.Len()); err != nil {
			return absent, nil, fmt.Errorf("a bitmap: %w", err)
		}
		fetched, err := c.download(from, []span{bytes})
		if err != nil {
			return absent, nil, err
		}
		c.seeBits(from, s, fetched)
		appendBits(packed, at, fetched, s.from%8, s.length)
		at += s.length
	}
	return c.addHost(packed), packed, nil
}

// seeBits records that bits are shown. A byte that also has other bits is recorded only
// if those are zero.
func (c *collector) seeBits(from column.Bytes, s span, bytes []byte) {
	shown := span{s.from / 8, len(bytes)}
	if shown.length > 0 && bytes[0]&(1<<(s.from%8)-1) != 0 {
		shown.from, shown.length = shown.from+1, shown.length-1
	}
	if rest := s.end() % 8; rest != 0 && shown.length > 0 && bytes[len(bytes)-1]>>rest != 0 {
		shown.length--
	}
	c.see(from, []span{shown})
}

// appendBits copies count bits to position at of another bitmap. The bits from there on
// are zero.
func appendBits(to []byte, at int, from []byte, first, count int) {
	for i := 0; i < count; {
		n := min(8, count-i)
		var eight uint16
		position := first + i
		eight = uint16(from[position/8])
		if position/8+1 < len(from) {
			eight |= uint16(from[position/8+1]) << 8
		}
		eight = eight >> (position % 8) & (1<<n - 1)
		target := at + i
		to[target/8] |= byte(eight << (target % 8))
		if spill := eight << (target % 8) >> 8; spill != 0 {
			to[target/8+1] |= byte(spill)
		}
		i += n
	}
}

func bytesOfBits(n int) int { return (n + 7) / 8 }

// offsets collects the offsets of strings or lists. It returns the spans of the data or
// the child that they cover.
func (c *collector) offsets(from column.Bytes, width int, spans []span, limit int) (column.Place, []span, error) {
	var embraced []span
	for _, s := range spans {
		first, err := c.download(from, []span{{s.from * width, width}, {s.end() * width, width}})
		if err != nil {
			return absent, nil, fmt.Errorf("offsets: %w", err)
		}
		part := span{from: int(integerAt(first, width, 0))}
		part.length = int(integerAt(first, width, 1)) - part.from
		if err := part.within(limit); err != nil {
			return absent, nil, fmt.Errorf("offsets: %w", err)
		}
		embraced = append(embraced, part)
	}
	if len(spans) == 1 && embraced[0].from == 0 {
		place, err := c.raw(from, []span{{spans[0].from * width, (spans[0].length + 1) * width}})
		return place, embraced, err
	}
	shifted := make([]byte, 0, (total(spans)+1)*width)
	at := 0
	shifted = appendInteger(shifted, width, 0)
	for i, s := range spans {
		fetched, err := c.fetch(from, []span{{s.from * width, (s.length + 1) * width}})
		if err != nil {
			return absent, nil, fmt.Errorf("offsets: %w", err)
		}
		for n := range s.length {
			shifted = appendInteger(shifted, width, integerAt(fetched, width, n+1)-int64(embraced[i].from)+int64(at))
		}
		at += embraced[i].length
	}
	if width == 4 && at > 1<<31-1 {
		return absent, nil, fmt.Errorf("offsets of 32 bits for %d elements: %w", at, memory.ErrOverflow)
	}
	return c.addHost(shifted), embraced, nil
}

// integerAt returns integer i of width bytes each.
func integerAt(bytes []byte, width, i int) int64 {
	switch bytes = bytes[i*width:]; width {
	case 2:
		return int64(int16(binary.NativeEndian.Uint16(bytes)))
	case 4:
		return int64(int32(binary.NativeEndian.Uint32(bytes)))
	}
	return int64(binary.NativeEndian.Uint64(bytes))
}

func appendInteger(bytes []byte, width int, value int64) []byte {
	switch width {
	case 2:
		return binary.NativeEndian.AppendUint16(bytes, uint16(value))
	case 4:
		return binary.NativeEndian.AppendUint32(bytes, uint32(value))
	}
	return binary.NativeEndian.AppendUint64(bytes, uint64(value))
}
