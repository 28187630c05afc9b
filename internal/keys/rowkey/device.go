package rowkey

import (
	"embed"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

// set has all kernels in one file. Each is compiled alone.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

// Constants of the kernels: see rowkey.cu and leaf.cuh.
const (
	deviceThreads = 256
	// deviceRows is the number of rows of a thread, so that it has several loads in progress.
	deviceRows = 4
)

// Device encodes rows with the kernels of a GPU. Its words are those of [Host].
type Device struct {
	call   *op.Call
	plan   *Plan
	leaves []deviceLeaf
}

// deviceLeaf is a source in memory of a GPU.
type deviceLeaf struct {
	*Source
	valid    memory.Slice[uint8]
	validBit int
	// values begin with the first row. Booleans begin with bit valueBit.
	values   memory.Slice[uint8]
	valueBit int
	ranks    memory.Slice[uint8]
	// of lists and strings
	sizes, data memory.Slice[uint8]
	views       []memory.Slice[uint8]
}

// DeviceScratch returns the sizes of the memory that [NewDevice] takes: a bitmap for each
// source with several.
func (p *Plan) DeviceScratch() []uint64 {
	sizes := make([]uint64, len(p.Sources))
	for i := range p.Sources {
		if s := &p.Sources[i]; len(s.bitmaps()) > 1 {
			sizes[i] = op.BitmapBytes(s.Column.Len())
		}
	}
	return sizes
}

// bitmaps returns the columns with a bitmap that makes rows null.
func (s *Source) bitmaps() []*column.Column {
	columns := s.Parents[:len(s.Parents):len(s.Parents)]
	if hasNulls(s.Column, s.Layout) {
		columns = append(columns, s.Column)
	}
	return columns
}

// NewDevice returns the encoder of a plan, which it borrows. It enqueues kernels that
// combine bitmaps in the scratch memory, which has the sizes of [Plan.DeviceScratch].
func NewDevice(call *op.Call, plan *Plan, scratch []memory.Slice[uint8]) (*Device, error) {
	d := &Device{call: call, plan: plan, leaves: make([]deviceLeaf, len(plan.Sources))}
	for i := range plan.Sources {
		var err error
		if d.leaves[i], err = newDeviceLeaf(&plan.Sources[i]); err != nil {
			return nil, err
		}
		if err := d.combine(&d.leaves[i], scratch[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func newDeviceLeaf(s *Source) (deviceLeaf, error) {
	l := deviceLeaf{Source: s}
	c, width := s.Column, s.Layout.Width
	if s.Storage == Ranked || s.Storage == Symbols {
		if s.Ranks == nil {
			return l, fmt.Errorf("the ranks of %v are missing: %w", c, device.ErrInvalidValue)
		}
		l.ranks = s.Ranks.Buffer(1)
	}
	var err error
	switch s.Layout.Kind {
	case layout.Bits:
		l.valueBit = c.Offset() % 8
		l.values, err = c.Buffer(1).Slice(c.Offset()/8, (c.Offset()+c.Len()+7)/8)
	case layout.Fixed:
		if s.Storage == Bytes {
			l.data = c.Buffer(1)
			break
		}
		l.values, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len())*width)
	case layout.Dictionary:
		l.values, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len())*width)
	case layout.Binary, layout.List:
		l.values, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len()+1)*width)
		if s.Storage == Bytes {
			l.data = c.Buffer(2)
		}
	case layout.ListView:
		if l.values, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len())*width); err == nil {
			l.sizes, err = c.Buffer(2).Slice(c.Offset()*width, (c.Offset()+c.Len())*width)
		}
	case layout.View:
		l.values, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len())*width)
		l.views = append(l.views, c.Data().Buffers[2:]...)
		if len(l.views) > mostViews {
			return l, fmt.Errorf("%v has %d data buffers, at most %d can be ordered on a GPU: take its rows to combine them: %w",
				c, len(l.views), mostViews, device.ErrNotSupported)
		}
	}
	if s.Storage == Symbols {
		l.data = l.ranks
	}
	return l, err
}

// combine finds the bitmap of a leaf. Several are combined in scratch memory.
func (d *Device) combine(l *deviceLeaf, scratch memory.Slice[uint8]) (err error) {
	columns := l.bitmaps()
	if len(columns) == 0 {
		return nil
	}
	if l.valid, l.validBit, err = columns[0].Validity(); err != nil {
		return err
	}
	for _, c := range columns[1:] {
		valid, bit, err := c.Validity()
		if err != nil {
			return err
		}
		// Each word is read and written by one thread: the result may be an operand.
		n := l.Column.Len()
		err = d.launch("rowkey_both", (n+31)/32, scratch, l.valid, uint64(l.validBit), valid, uint64(bit), uint64(n))
		if err != nil {
			return err
		}
		l.valid, l.validBit = scratch, 0
	}
	return nil
}

// launch enqueues a kernel for a number of elements.
func (d *Device) launch(name string, n int, arguments ...any) error {
	f, err := d.call.Kernel(&set, "rowkey", name)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, deviceThreads, deviceRows, 0)
	if err != nil {
		return err
	}
	return f.Launch(d.call.Stream, grid, device.Dim3{X: deviceThreads}, 0, arguments...)
}

// DeviceRows is the rows that a [Device] encodes.
type DeviceRows struct {
	// Listed are the numbers of the rows. If it is empty, the rows from First on are encoded.
	Listed memory.Slice[uint32]
	First  int
	// Rows is the number of rows or, if Counted has memory, their maximum.
	Rows    int
	Counted memory.Slice[int64]
}

func (r DeviceRows) argument() any {
	l := rowsLayout{listed: r.Listed, counted: r.Counted, capacity: int64(r.Rows), first: uint64(r.First)}
	return l.asArgument()
}

// Encode writes a word of a segment for rows to words: uint32 if the segment has at most
// 32 bits, otherwise uint64.
func (d *Device) Encode(segment, word int, rows DeviceRows, words memory.Slice[uint8]) error {
	return d.encode(segment, word, rows, d.plan.Segments[segment].Width() == 8, item{}, words)
}

// EncodeItems writes the first word of each row, shifted left, with the number of the row
// below it. The word is of numbers and fits.
func (d *Device) EncodeItems(rows DeviceRows, shift int, items memory.Slice[uint8]) error {
	return d.encode(0, 0, rows, true, item{shift: shift}, items)
}

// CompanionBits is the shift of the words of EncodeWith.
const CompanionBits = 32

// EncodeWith writes the first word of each row, of at most 32 bits and of numbers, shifted
// left, with the row's value of another column below it. Its values have a width of 1, 2 or
// 4 bytes.
func (d *Device) EncodeWith(rows DeviceRows, companions memory.Slice[uint8], width int, items memory.Slice[uint8]) error {
	return d.encode(0, 0, rows, true, item{CompanionBits, companions, width}, items)
}

// item selects the low bits of items: none if shift is 0, the number of the row, or its
// companion.
type item struct {
	shift      int
	companions memory.Slice[uint8]
	width      int
}

func (d *Device) encode(segment, word int, rows DeviceRows, wide bool, with item, words memory.Slice[uint8]) error {
	s := &d.plan.Segments[segment]
	name := "rowkey_words_32"
	if wide {
		name = "rowkey_words_64"
	}
	if with.width > 0 {
		name = "rowkey_words_with"
	}
	add, count := uint32(0), uint32(0)
	var pieces piecesLayout
	flush := func() error {
		if count == 0 {
			return nil
		}
		list := kernelset.NewWords(int(count) * pieceLayoutWords)
		pieces.addTo(list)
		arguments := []any{words, rows.argument(), ones(s.WordLength(word)), add, uint32(with.shift), count, list}
		if with.width > 0 {
			arguments = append(arguments, with.companions, uint32(with.width))
		}
		err := d.launch(name, rows.Rows, arguments...)
		pieces = piecesLayout{}
		add, count = 1, 0
		return err
	}
	for i := range s.Pieces {
		p := &s.Pieces[i]
		left, ok := s.Shift(p, word)
		if !ok || p.Content == Prefix {
			continue
		}
		pieces.piece[count] = d.leaves[p.Source].piece(p, left)
		if count++; count == mostPieces {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	// The prefix fills its segment up to whole words of 64 bits.
	if p := s.Pieces[len(s.Pieces)-1]; p.Content == Prefix {
		if left, ok := s.Shift(&p, word); ok {
			texts := d.leaves[p.Source].texts()
			return d.launch("rowkey_prefix", rows.Rows, words, rows.argument(), add, uint32(p.Bits), int32(left), p.Flip, texts)
		}
	}
	return nil
}

// fixed is the kernels' Fixed.
func (l *deviceLeaf) fixed() fixedLayout {
	f := fixedLayout{
		values: l.values, valid: l.valid, valueBit: uint64(l.valueBit), validBit: uint64(l.validBit), rankCount: l.ranks.Bytes() / 4, width: uint64(l.Layout.Width),
	}
	if l.Storage == Ranked {
		f.ranks = l.ranks
	}
	return f
}

// fixedWords is fixed as an argument.
func (l *deviceLeaf) fixedWords() *kernels.Words {
	w, f := kernelset.NewWords(fixedLayoutWords), l.fixed()
	f.addTo(w)
	return w
}

// piece is the kernels' Piece.
func (l *deviceLeaf) piece(p *Piece, left int) pieceLayout {
	nan := p.NaN
	if p.Content == Rank && l.Nullable {
		nan = 1
	}
	return pieceLayout{
		from: l.fixed(), content: p.Content, bits: uint64(p.Bits), word: uint64(p.Word), left: int64(left), subtract: p.Subtract, flip: p.Flip, nan: nan,
	}
}

// texts is textsLayout as an argument.
func (l *deviceLeaf) texts() *kernels.Words {
	w, t := kernelset.NewWords(textsLayoutWords), l.textsLayout()
	t.addTo(w)
	return w
}

// textsLayout is the kernels' Texts.
func (l *deviceLeaf) textsLayout() textsLayout {
	t := textsLayout{
		starts: l.values, sizes: l.sizes, data: l.data, valid: l.valid, validBit: uint64(l.validBit), limit: l.data.Bytes(), fixed: int64(l.fixedLength()),
		first: uint64(l.Column.Offset()), width: uint64(l.Layout.Width), viewCount: uint64(len(l.views)),
	}
	if l.Storage == Symbols {
		t.limit, t.symbols = t.limit/4, 1
	}
	if l.Layout.Kind == layout.View {
		t.views = 1
	}
	for i, view := range l.views {
		t.viewData[i], t.viewLimit[i] = view, view.Bytes()
	}
	return t
}

// TailUnits returns the number of bytes or ranks in a word of a tail.
func (d *Device) TailUnits(t *Tail) int { return WordBits / d.leaves[t.Source].unitBits() }

// Runs are rows in runs that agree up to a place in a tail.
type Runs struct {
	// Rows are the rows in order, and Runs the number of the run of each.
	Rows, Runs memory.Slice[uint32]
	// Firsts is the number of the first row of each run in Rows. Places is the place of
	// each run in the tail: a position, and later its length and its end.
	Firsts memory.Slice[uint32]
	Places memory.Slice[uint64]
	// Count is the number of runs.
	Count int
}

// Agree advances each run to the first word in which its rows differ, or to the length.
// nexts and ends have 8 bytes for each run.
func (d *Device) Agree(t *Tail, r Runs, nexts, ends memory.Slice[uint8]) error {
	if err := nexts.Fill(d.call.Stream, 0xff); err != nil {
		return err
	}
	if err := ends.Fill(d.call.Stream, 0); err != nil {
		return err
	}
	texts := d.leaves[t.Source].texts()
	if err := d.launch("rowkey_agree", r.Rows.Len(), nexts, ends, r.Rows, r.Runs, r.Firsts, r.Places, uint64(r.Rows.Len()), texts); err != nil {
		return err
	}
	return d.launch("rowkey_places", r.Count, r.Places, nexts, ends, uint64(r.Count))
}

// EncodeTails writes for each row the word of its tail at its run's place, or its length.
func (d *Device) EncodeTails(t *Tail, r Runs, words memory.Slice[uint8]) error {
	flip := uint64(0)
	if d.leaves[t.Source].Descending {
		flip = ones(WordBits)
	}
	return d.launch("rowkey_tails", r.Rows.Len(), words, r.Rows, r.Runs, r.Places, uint64(r.Rows.Len()), flip, d.leaves[t.Source].texts())
}
