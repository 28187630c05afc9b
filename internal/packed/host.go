package packed

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
)

// Array unpacks the column on the host. The caller releases the array.
//
// # Errors
//
// A damaged block is an [*Error] with column 0.
func (c Column) Array(ctx context.Context, allocator arrowmemory.Allocator) (arrow.Array, error) {
	values, err := c.array(ctx, allocator)
	if err != nil {
		return nil, fmt.Errorf("packed: unpack %v: %w", c.Type, err)
	}
	return values, nil
}

func (c Column) array(ctx context.Context, allocator arrowmemory.Allocator) (arrow.Array, error) {
	k, err := c.check()
	if err != nil {
		return nil, err
	}
	rows, nulls, _ := c.sizes()
	m, err := c.hostMemory(k, allocator)
	if err != nil {
		return nil, err
	}
	defer m.release()
	if err := c.unpackBlocks(ctx, k, m); err != nil {
		return nil, err
	}
	data := array.NewData(c.Type, rows, m.buffers(k), nil, nulls, 0)
	defer data.Release()
	whole := array.MakeFromData(data)
	if c.First == 0 && c.Rows == int64(rows) {
		return whole, nil
	}
	defer whole.Release()
	return array.NewSlice(whole, c.First, c.First+c.Rows), nil
}

// unpackBlocks unpacks the blocks, several at a time.
func (c *Column) unpackBlocks(ctx context.Context, k kind, m hostMemory) error {
	list := make([]hostUnpacker, len(c.Blocks))
	row, text := 0, uint64(0)
	for i := range list {
		list[i] = hostUnpacker{kind: k, dictionary: c.Dictionary, hostMemory: m, row: row, text: text}
		row, text = row+c.Blocks[i].Rows, text+uint64(c.Blocks[i].Text)
	}
	if k.isText() {
		end := hostUnpacker{kind: k, hostMemory: m, row: row}
		end.offset(0, text)
	}
	return eachTask(ctx, len(list), func(i int) error {
		if err := list[i].block(&c.Blocks[i]); err != nil {
			return &Error{Block: i, Err: err}
		}
		return nil
	})
}

// hostMemory is the memory of a column: the bitmap or nil, the values or the offsets of strings, the strings.
type hostMemory struct{ bitmap, numbers, texts *arrowmemory.Buffer }

// hostUnpacker unpacks a block.
type hostUnpacker struct {
	kind       kind
	dictionary *Dictionary
	hostMemory
	// row and text are the numbers of rows and bytes of strings of the blocks before.
	row    int
	text   uint64
	values []uint64 // of a tile
	valid  []byte
}

// sizes are the rows of blocks, their nulls and the bytes of their strings.
func (c *Column) sizes() (rows, nulls int, text uint64) {
	for i := range c.Blocks {
		rows += c.Blocks[i].Rows
		nulls += c.Blocks[i].Nulls
		text += uint64(c.Blocks[i].Text)
	}
	return rows, nulls, text
}

// numberBytes is the length of the values, or offsets, of a column.
func (k kind) numberBytes(rows int) uint64 {
	switch {
	case k == booleans:
		return op.BitmapBytes(rows)
	case k.isText():
		return uint64(k.bytes()) * uint64(rows+1)
	}
	return uint64(k.bytes()) * uint64(rows)
}

// checkText checks the length of the strings of a column.
func (k kind) checkText(ctx context.Context, text uint64) error {
	if k.isText() && text > uint64(strategy.MaximumOffset(ctx, k.bytes())) {
		return fmt.Errorf("%d bytes: %w", text, ErrLong)
	}
	return nil
}

// hostMemory allocates the memory of the column.
func (c *Column) hostMemory(k kind, allocator arrowmemory.Allocator) (m hostMemory, err error) {
	rows, nulls, text := c.sizes()
	if k == texts && text > math.MaxInt32 {
		return m, fmt.Errorf("%d bytes: %w", text, ErrLong)
	}
	take := func(bytes uint64) *arrowmemory.Buffer {
		return arrowmemory.NewBufferWithAllocator(allocator.Allocate(int(bytes)), allocator)
	}
	if nulls > 0 {
		m.bitmap = take(op.BitmapBytes(rows))
	}
	m.numbers = take(k.numberBytes(rows))
	if k.isText() {
		m.texts = take(text)
	}
	return m, nil
}

func (m hostMemory) buffers(k kind) []*arrowmemory.Buffer {
	if k.isText() {
		return []*arrowmemory.Buffer{m.bitmap, m.numbers, m.texts}
	}
	return []*arrowmemory.Buffer{m.bitmap, m.numbers}
}

func (m hostMemory) release() {
	for _, b := range m.buffers(texts) {
		if b != nil {
			b.Release()
		}
	}
}

// block unpacks a block.
func (u *hostUnpacker) block(b *Block) error {
	tiles := b.tiles()
	u.values = make([]uint64, TileRows)
	for i := range tiles {
		rows := min(TileRows, b.Rows-i*TileRows)
		next := b.Text
		if i+1 < len(tiles) {
			next = tiles[i+1].text
		}
		if err := u.tile(b, &tiles[i], rows, next); err != nil {
			return fmt.Errorf("tile %d: %w", i, err)
		}
		u.row += rows
	}
	return nil
}

// tile unpacks a tile. next is the length of the strings up to its end.
func (u *hostUnpacker) tile(b *Block, t *tile, rows int, next uint32) error {
	if err := t.check(b.Bytes, rows, u.kind == decimals); err != nil {
		return err
	}
	u.valid = nil
	if t.validity != none {
		u.valid = b.Bytes[t.validity : t.validity+TileRows/8]
	}
	if u.bitmap != nil {
		u.writeValidity(rows)
	}
	if t.form == wide {
		copy(u.numbers.Buf()[16*u.row:], b.Bytes[t.data:int(t.data)+16*rows])
		return nil
	}
	values := u.values[:rows]
	if err := t.values(b.Bytes, values); err != nil {
		return err
	}
	if u.kind.isText() {
		return u.writeTexts(b, t, values, next)
	}
	u.writeNumbers(t, values)
	return nil
}

// values decodes the values of a tile that was checked.
func (t *tile) values(block []byte, values []uint64) error {
	words := address.ValuesOf[uint64](block)[t.data/8:]
	switch t.form {
	case offsets:
		unpackCodes(values, words, t.width)
		for i, code := range values {
			values[i] = t.reference + t.factor*code
		}
	case deltas:
		unpackCodes(values, words, t.width)
		value := t.reference
		for i, code := range values {
			value += t.factor + code
			values[i] = value
		}
	case runs:
		return t.runValues(block, words, values)
	}
	return nil
}

func (t *tile) runValues(block []byte, words, values []uint64) error {
	marked := 0
	for _, word := range words[:runWords] {
		marked += bits.OnesCount64(word)
	}
	if marked > TileRows || !within(block, t.data, t.size(len(values), marked)) || words[0]&1 == 0 {
		return fmt.Errorf("%d runs: %w", marked, ErrDamaged)
	}
	codes := make([]uint64, marked)
	unpackCodes(codes, words[runWords:], t.width)
	run := -1
	for i := range values {
		run += int(words[i/64] >> (i % 64) & 1)
		values[i] = t.reference + t.factor*codes[run]
	}
	return nil
}

// writeValidity writes the bits of a tile. Tiles begin at multiples of 8 rows.
func (u *hostUnpacker) writeValidity(rows int) {
	to := u.bitmap.Buf()[u.row/8:]
	for i := range (rows + 7) / 8 {
		bits := byte(0xff)
		if u.valid != nil {
			bits = u.valid[i]
		}
		if left := rows - 8*i; left < 8 {
			bits &= 1<<left - 1
		}
		to[i] = bits
	}
}

// writeNumbers writes values that are no strings.
func (u *hostUnpacker) writeNumbers(t *tile, values []uint64) {
	if (u.kind == floats4 || u.kind == floats8) && t.exponent != asBits {
		for i, v := range values {
			values[i] = uint64(u.kind.quotient(int64(v), t.exponent))
		}
	}
	to := u.numbers.Buf()
	switch width := u.kind.bytes(); width {
	case 0:
		for i, v := range values {
			to[(u.row+i)/8] |= byte(v&1) << ((u.row + i) % 8)
		}
	case 1:
		narrowTo(to[u.row:], values)
	case 2:
		narrowTo(address.ValuesOf[uint16](to[2*u.row:]), values)
	case 4:
		narrowTo(address.ValuesOf[uint32](to[4*u.row:]), values)
	case 8:
		copy(address.ValuesOf[uint64](to[8*u.row:]), values)
	case 16:
		for i, v := range values {
			at := to[16*(u.row+i):]
			binary.NativeEndian.PutUint64(at, v)
			binary.NativeEndian.PutUint64(at[8:], uint64(int64(v)>>63))
		}
	}
}

func narrowTo[T uint8 | uint16 | uint32](to []T, values []uint64) {
	for i, v := range values {
		to[i] = T(v)
	}
}

// writeTexts writes the offsets and bytes of strings. values are their codes or their lengths.
func (u *hostUnpacker) writeTexts(b *Block, t *tile, values []uint64, next uint32) error {
	at, end := uint64(t.text), uint64(next)
	if at > end || end > uint64(b.Text) {
		return fmt.Errorf("strings from %d up to %d of %d bytes: %w", at, end, b.Text, ErrDamaged)
	}
	to := u.texts.Buf()[u.text:]
	for i, v := range values {
		u.offset(i, u.text+at)
		if u.valid != nil && u.valid[i/8]>>(i%8)&1 == 0 {
			continue
		}
		if b.Coded && v >= uint64(u.dictionary.Len()) {
			return fmt.Errorf("code %d in a dictionary of %d strings: %w", v, u.dictionary.Len(), ErrDamaged)
		}
		length := v
		if b.Coded {
			length = uint64(len(u.dictionary.text(v)))
		}
		if length > end-at {
			return fmt.Errorf("a string of %d bytes in %d: %w", length, end-at, ErrDamaged)
		}
		if b.Coded {
			copy(to[at:], u.dictionary.text(v))
		} else {
			from := uint64(b.strings()) + at
			copy(to[at:], b.Bytes[from:from+length])
		}
		at += length
	}
	if at != end {
		return fmt.Errorf("strings end at %d, expected %d: %w", at, end, ErrDamaged)
	}
	return nil
}

// offset writes the offset of a string of the tile.
func (u *hostUnpacker) offset(i int, at uint64) {
	if u.kind == texts {
		binary.NativeEndian.PutUint32(u.numbers.Buf()[4*(u.row+i):], uint32(at))
	} else {
		binary.NativeEndian.PutUint64(u.numbers.Buf()[8*(u.row+i):], at)
	}
}
