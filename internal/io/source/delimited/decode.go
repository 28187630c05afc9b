package delimited

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/text/textparse"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda ../../../../kernels/include/float.cuh
//go:embed cuda/*.ptx.gz
var kernelCode embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: kernelCode, Directory: "cuda", Apart: true}

// Options are those of [Decode].
type Options struct {
	// Stream is the stream of the work and of the columns' memory; nil means the manager's.
	Stream *device.Stream
	// Tag names the memory of the columns in the manager's statistics.
	Tag string
}

var (
	// ErrFault reports a text that the host has to read, to find its error or because the number of its rows is
	// another one.
	ErrFault = errors.New("the text has a fault")
	// ErrLong reports texts that are too long: decode fewer rows at a time.
	ErrLong = errors.New("the text is longer than a device decodes at a time: decode fewer rows")
)

// mostBytes is the length of all texts at most: places have 32 bits, and offsets of columns 31.
const mostBytes = math.MaxInt32 - 1<<16

const (
	// behind is the number of bytes behind the text that kernels read.
	behind = 64
	// tileBytes are the bytes and tileRows the rows of a block: see separators.cu and rows.cuh.
	tileBytes = 8192
	tileRows  = 128
	// countedBytes is the length of Tile in separators.cu.
	countedBytes = 16
)

// outcome is Outcome of delimited.cuh, result its Result.
type (
	outcome struct{ faults, refused uint32 }
	result  struct{ bytes, absent uint64 }
)

// Decode decodes the rows of texts, one behind the other, on a device that is no host.
//
// # Waiting
//
// Decode returns when the bytes of the texts may be reused. Work on the columns may be pending on the stream.
//
// # Ownership
//
// The caller releases the columns. Columns of a call share memory, which stays until the last of them is released.
//
// # Errors
//
// A text that is not as the layout describes it, and one that has another number of rows, is an error that wraps
// [ErrFault]. Texts beyond 2 GiB are one that wraps [ErrLong].
func Decode(ctx context.Context, m *memory.Manager, layout Layout, texts []Text, options Options) (columns []*column.Column, err error) {
	if err := layout.check(); err != nil {
		return nil, fmt.Errorf("delimited: %w", err)
	}
	if m.Device().Kind() == device.Host {
		return nil, fmt.Errorf("delimited: decode on %s: %w", m.Device(), device.ErrNotSupported)
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: m, Stream: options.Stream, Tag: options.Tag})
	if err != nil {
		return nil, err
	}
	d := decoding{call: &call, layout: &layout}
	defer func() {
		if err = errors.Join(err, d.input.Release(), d.work.Release(), d.columns.Release()); err != nil {
			err = errors.Join(fmt.Errorf("delimited: decode: %w", err), release.All(columns))
			columns = nil
		}
	}()
	if err := d.place(texts); err != nil {
		return nil, err
	}
	if d.rows == 0 {
		return d.emptyColumns()
	}
	if err := d.copy(texts); err != nil {
		return nil, err
	}
	if err := d.parse(); err != nil {
		return nil, err
	}
	return d.results()
}

// decoding is one call of Decode.
type decoding struct {
	call   *op.Call
	layout *Layout
	// length is that of all texts, with the line ends that some lack.
	length, rows uint64
	// input has what is copied to the device, work the results of kernels for others, columns the values of columns.
	input, work, columns *memory.Block
	text                 textLayout
	nulls                nullsLayout
	powers               powersLayout
	// targets has the descriptions of columns, outcome the outcome and the results of columns.
	targets, outcome memory.Slice[uint8]
	tiles, ends      memory.Slice[uint8]
	list             []target
	// values and bitmaps are those of each column.
	values, bitmaps []memory.Slice[uint8]
}

// place finds the number of bytes and of rows.
func (d *decoding) place(texts []Text) error {
	for _, t := range texts {
		d.length += uint64(len(t.Bytes))
		if lacksEnd(t.Bytes) {
			d.length++
		}
		d.rows += uint64(t.Rows)
	}
	if d.length > mostBytes {
		return fmt.Errorf("%d bytes: %w", d.length, ErrLong)
	}
	if d.rows > d.length || d.rows*uint64(d.layout.Width) > d.length { // each field has a byte behind it
		return fmt.Errorf("%d rows of %d fields in %d bytes: %w", d.rows, d.layout.Width, d.length, ErrFault)
	}
	return nil
}

// lacksEnd reports whether the last row has no line end.
func lacksEnd(text []byte) bool { return len(text) > 0 && text[len(text)-1] != '\n' }

// copy allocates the memory and copies the texts and the descriptions to the device.
func (d *decoding) copy(texts []Text) error {
	nullTexts, lengths := d.layout.nullTexts()
	rows, count := int(d.rows), len(d.layout.Columns)
	groups := (d.rows + 63) / 64 * 2 // of 32 rows
	powers := textparse.PowersOfFive()
	outcomes := make([]byte, int(unsafe.Sizeof(outcome{}))+count*int(unsafe.Sizeof(result{})))
	sizes := []uint64{d.length + behind, uint64(len(nullTexts)), uint64(len(powers)), uint64(count) * uint64(unsafe.Sizeof(target{})), uint64(len(outcomes))}
	input, spaces, err := d.call.Scratch(sizes...)
	if err != nil {
		return err
	}
	d.input = input
	work := []uint64{(d.length + tileBytes - 1) / tileBytes * countedBytes, 4 * d.rows * uint64(d.layout.Width)}
	var values []uint64
	for i := range d.layout.Columns {
		t := d.layout.Columns[i].target()
		d.list = append(d.list, t)
		length, bytes := uint64(0), d.rows*uint64(t.bytes)
		switch t.form {
		case text:
			length, bytes = 4*groups, (d.rows+1)*uint64(t.bytes)
		case boolean:
			bytes = op.BitmapBytes(rows)
		}
		work = append(work, length)
		values = append(values, op.BitmapBytes(rows), bytes)
	}
	var worked, columns []memory.Slice[uint8]
	if d.work, worked, err = d.call.Scratch(work...); err != nil {
		return err
	}
	if d.columns, columns, err = d.call.Allocate(values...); err != nil {
		return err
	}
	d.tiles, d.ends = worked[0], worked[1]
	for i := range d.list {
		d.bitmaps, d.values = append(d.bitmaps, columns[2*i]), append(d.values, columns[2*i+1])
		d.list[i].bitmap, d.list[i].values = uint64(columns[2*i].Pointer()), uint64(columns[2*i+1].Pointer())
		d.list[i].lengths = uint64(worked[2+i].Pointer())
	}
	d.text = textLayout{bytes: spaces[0], length: uint32(d.length), delimiter: uint32(d.layout.Delimiter), width: uint32(d.layout.Width), rows: uint32(d.rows)}
	d.nulls = nullsLayout{lengths: lengths, texts: spaces[1], count: uint32(len(d.layout.Nulls))}
	d.powers, d.targets, d.outcome = powersLayout{words: spaces[2]}, spaces[3], spaces[4]
	return d.upload(texts, spaces, nullTexts, powers, bytesOf(d.list), outcomes)
}

// upload copies the texts, and lists to the spaces behind that of the texts.
func (d *decoding) upload(texts []Text, spaces []memory.Slice[uint8], lists ...[]byte) error {
	var sources []memory.Source
	at := uint64(0)
	add := func(bytes []byte) {
		sources = append(sources, memory.Source{Offset: at, Data: bytes})
		at += uint64(len(bytes))
	}
	for _, t := range texts {
		add(t.Bytes)
		if lacksEnd(t.Bytes) {
			add([]byte{'\n'})
		}
	}
	whole, err := memory.View[uint8](d.input, 0, int(d.input.Bytes()))
	if err != nil {
		return err
	}
	for i, list := range lists {
		if at = uint64(spaces[i+1].Pointer()) - uint64(whole.Pointer()); len(list) > 0 {
			add(list)
		}
	}
	return memory.Upload(d.call.Context(), d.call.Stream, whole, sources)
}

// nullTexts returns the texts that stand for null, each behind its length, and a bit for each length.
func (l *Layout) nullTexts() (texts []byte, lengths uint64) {
	for _, null := range l.Nulls {
		texts = append(append(texts, byte(len(null))), null...)
		lengths |= 1 << len(null)
	}
	return texts, lengths
}

// parse enqueues the kernels that do not write texts.
func (d *decoding) parse() error {
	tiles := int((d.length + tileBytes - 1) / tileBytes)
	text, nulls, powers := d.text.asArgument(), d.nulls.asArgument(), d.powers.asArgument()
	results, err := d.outcome.Slice(int(unsafe.Sizeof(outcome{})), d.outcome.Len())
	if err != nil {
		return err
	}
	count := uint32(len(d.list))
	if err := d.launch("separators", "count_separators", tiles, 256, d.tiles, text); err != nil {
		return err
	}
	if err := d.launch("separators", "scan_tiles", 1, 1024, d.tiles, uint32(tiles), d.outcome, text); err != nil {
		return err
	}
	if err := d.launch("separators", "write_separators", tiles, 256, d.tiles, d.ends, d.outcome, text); err != nil {
		return err
	}
	if count == 0 {
		return nil
	}
	if err := d.launch("values", "parse_rows", d.rowTiles(), 256, d.targets, results, count, d.outcome, d.ends, text, nulls, powers); err != nil {
		return err
	}
	if err := d.launch("texts", "scan_lengths", len(d.list), 1024, d.targets, results, d.outcome, uint32(d.rows)); err != nil {
		return err
	}
	return d.recordUse()
}

func (d *decoding) rowTiles() int { return int((d.rows + tileRows - 1) / tileRows) }

// recordUse records the use of the memory that kernels find by addresses in descriptions.
func (d *decoding) recordUse() error {
	return errors.Join(d.work.RecordUse(d.call.Stream), d.columns.RecordUse(d.call.Stream))
}

// launch enqueues a kernel.
func (d *decoding) launch(file, entry string, blocks int, threads uint32, arguments ...any) error {
	kernel, err := d.call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return kernel.Launch(d.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: threads}, 0, arguments...)
}

// results waits for the outcome, writes the texts and makes the columns.
func (d *decoding) results() (columns []*column.Column, err error) {
	bytes := make([]byte, d.outcome.Len())
	if err := d.outcome.Download(d.call.Context(), d.call.Stream, bytes); err != nil {
		return nil, err
	}
	if faults := (*outcome)(unsafe.Pointer(&bytes[0])).faults; faults != 0 {
		return nil, fmt.Errorf("faults of kinds %#x: %w", faults, ErrFault)
	}
	if len(d.list) == 0 {
		return nil, nil
	}
	results := unsafe.Slice((*result)(unsafe.Pointer(&bytes[unsafe.Sizeof(outcome{})])), len(d.list))
	sizes, texts := make([]uint64, len(d.list)), false
	for i := range d.list {
		sizes[i] = results[i].bytes
		texts = texts || d.list[i].form == text
	}
	block, slices, err := d.call.Allocate(sizes...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	if texts {
		if err := d.writeTexts(slices); err != nil {
			return nil, err
		}
		if block != nil {
			if err := block.RecordUse(d.call.Stream); err != nil {
				return nil, err
			}
		}
	}
	for i, c := range d.layout.Columns {
		data := column.Data{Type: c.Type, Length: int(d.rows), NullCount: int(results[i].absent), Buffers: []column.Bytes{{}, d.values[i]}}
		if data.NullCount > 0 {
			data.Buffers[0] = d.bitmaps[i]
		}
		if d.list[i].form == text {
			data.Buffers = append(data.Buffers, slices[i])
		}
		decoded, err := column.New(data)
		if err != nil {
			return columns, err
		}
		columns = append(columns, decoded)
	}
	return columns, nil
}

// writeTexts enqueues the kernel that writes texts.
func (d *decoding) writeTexts(texts []memory.Slice[uint8]) error {
	for i := range texts {
		if texts[i].Len() > 0 {
			d.list[i].texts = uint64(texts[i].Pointer())
		}
	}
	if err := d.targets.Upload(d.call.Context(), d.call.Stream, bytesOf(d.list)); err != nil {
		return err
	}
	if err := d.launch("texts", "write_texts", d.rowTiles(), 256, d.targets, uint32(len(d.list)), d.ends, d.text.asArgument(), d.nulls.asArgument()); err != nil {
		return err
	}
	return d.recordUse()
}

// emptyColumns returns columns without rows.
func (d *decoding) emptyColumns() (columns []*column.Column, err error) {
	for _, c := range d.layout.Columns {
		l, err := layout.Of(c.Type)
		if err != nil {
			return columns, err
		}
		empty, err := column.New(column.Data{Type: c.Type, Manager: d.call.Manager, Buffers: make([]column.Bytes, l.Buffers())})
		if err != nil {
			return columns, err
		}
		columns = append(columns, empty)
	}
	return columns, nil
}
