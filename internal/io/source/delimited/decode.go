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
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda ../../../../kernels/include/float.cuh
//go:embed cuda/*.ptx.packed
var kernelCode embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: kernelCode, Directory: "cuda", Apart: true}

// Options are those of [Decode].
type Options struct {
	// Stream is the stream of the work and of the columns' memory; nil means the manager's.
	Stream *device.Stream
	// CopyStream is the stream of the copy of the texts; nil means Stream. With another one the copy does not wait for
	// work on Stream, and fails at once if memory is short because other requests wait for it.
	CopyStream *device.Stream
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
	// tileBytes are the bytes and tileRows the rows of a block, memberRows those of JSON lines: see separators.cu,
	// fields.cuh and members.cu.
	tileBytes  = 8192
	tileRows   = 128
	memberRows = 64
	// countedBytes is the length of Tile in separators.cu.
	countedBytes = 16
)

// outcome is Outcome of delimited.cuh, result its Result.
type (
	outcome struct{ faults, refused uint32 }
	result  struct{ bytes, absent uint64 }
)

// outcomeBytes and resultBytes are their lengths.
const outcomeBytes, resultBytes, targetBytes = int(unsafe.Sizeof(outcome{})), int(unsafe.Sizeof(result{})), int(unsafe.Sizeof(target{}))

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
	b, err := Copy(ctx, m, layout, texts, options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, b.Release()); err != nil {
			err = errors.Join(err, release.All(columns))
			columns = nil
		}
	}()
	return b.Decode(ctx)
}

// Decode decodes the columns. Another call decodes the columns again, into other memory.
//
// # Waiting, ownership, errors
//
// They are those of the function [Decode].
func (b *Batch) Decode(ctx context.Context) (columns []*column.Column, err error) {
	if b.rows == 0 {
		return b.emptyColumns()
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: b.options.Stream, Tag: b.options.Tag})
	if err != nil {
		return nil, err
	}
	d := decoding{Batch: b, call: &call}
	defer func() {
		if err = errors.Join(err, d.work.Release(), d.columns.Release()); err != nil {
			err = errors.Join(fmt.Errorf("delimited: decode: %w", err), release.All(columns))
			columns = nil
		}
	}()
	if err := errors.Join(call.OrderBehind(b.memory), d.allocate()); err != nil {
		return nil, err
	}
	if err := d.parse(); err != nil {
		return nil, err
	}
	return d.results()
}

// decoding is one call of Decode.
type decoding struct {
	*Batch
	call *op.Call
	// work has the results of kernels for others, columns the values of columns.
	work, columns *memory.Block
	// tokens are those of JSON lines.
	tiles, ends, tokens memory.Slice[uint8]
	list                []target
	// values and bitmaps are those of each column.
	values, bitmaps []memory.Slice[uint8]
}

// allocate allocates the memory of the kernels and describes the columns.
func (d *decoding) allocate() error {
	rows := int(d.rows)
	groups := (d.rows + 63) / 64 * 2 // of 32 rows
	work := []uint64{(d.length + tileBytes - 1) / tileBytes * countedBytes, 4 * d.rows * uint64(d.layout.Width), 0}
	if d.layout.lines() {
		work[2] = 8 * d.rows * uint64(len(d.layout.Columns))
	}
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
	var err error
	if d.work, worked, err = d.call.Scratch(work...); err != nil {
		return err
	}
	if d.columns, columns, err = d.call.Allocate(values...); err != nil {
		return err
	}
	d.tiles, d.ends, d.tokens = worked[0], worked[1], worked[2]
	for i := range d.list {
		d.bitmaps, d.values = append(d.bitmaps, columns[2*i]), append(d.values, columns[2*i+1])
		d.list[i].bitmap, d.list[i].values = uint64(columns[2*i].Pointer()), uint64(columns[2*i+1].Pointer())
		d.list[i].lengths = uint64(worked[3+i].Pointer())
	}
	return d.describe()
}

// describe copies the descriptions of columns, and an outcome without faults.
func (d *decoding) describe() error {
	var uploads memory.Batch
	if err := memory.AddUpload(&uploads, d.outcome, make([]byte, d.outcome.Len())); err != nil {
		return err
	}
	if len(d.list) > 0 {
		if err := memory.AddUpload(&uploads, d.targets, address.BytesOf(d.list)); err != nil {
			return err
		}
	}
	return uploads.Run(d.call.Context(), d.call.Stream)
}

// parse enqueues the kernels that do not write texts.
func (d *decoding) parse() error {
	tiles := int((d.length + tileBytes - 1) / tileBytes)
	text := d.text.asArgument()
	if err := d.launch("separators", "count_separators", tiles, 256, d.tiles, text); err != nil {
		return err
	}
	if err := d.launch("separators", "scan_tiles", 1, 1024, d.tiles, uint32(tiles), d.outcome, text); err != nil {
		return err
	}
	if err := d.launch("separators", "write_separators", tiles, 256, d.tiles, d.ends, d.outcome, text); err != nil {
		return err
	}
	if d.layout.lines() {
		if err := d.launch("members", "find_members", d.rowTiles(), 128, d.tokens, d.outcome, d.ends, text, d.members.asArgument()); err != nil {
			return err
		}
	}
	if len(d.list) > 0 {
		if err := d.parseColumns(); err != nil {
			return err
		}
	}
	return d.recordUse()
}

// parseColumns enqueues the kernels that write values, and sum up the lengths of texts.
func (d *decoding) parseColumns() error {
	results, err := d.outcome.Slice(outcomeBytes, d.outcome.Len())
	if err != nil {
		return err
	}
	count, text, powers := uint32(len(d.list)), d.text.asArgument(), d.powers.asArgument()
	if d.layout.lines() {
		err = d.launch("members", "parse_members", d.rowTiles(), 128, d.targets, results, count, d.outcome, d.ends, text, d.tokens, powers)
	} else {
		err = d.launch("values", "parse_rows", d.rowTiles(), 256, d.targets, results, count, d.outcome, d.ends, text, d.nulls.asArgument(), powers)
	}
	if err != nil {
		return err
	}
	return d.launch("texts", "scan_lengths", len(d.list), 1024, d.targets, results, d.outcome, uint32(d.rows))
}

// rowTiles returns the number of tiles of rows.
func (d *decoding) rowTiles() int {
	rows := uint64(tileRows)
	if d.layout.lines() {
		rows = memberRows
	}
	return int((d.rows + rows - 1) / rows)
}

// recordUse records the use of the memory that kernels find by addresses in descriptions.
func (d *decoding) recordUse() error {
	err := errors.Join(d.memory.RecordUse(d.call.Stream), d.work.RecordUse(d.call.Stream))
	if d.columns != nil {
		err = errors.Join(err, d.columns.RecordUse(d.call.Stream))
	}
	return err
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
	results := unsafe.Slice((*result)(unsafe.Pointer(&bytes[outcomeBytes])), len(d.list))
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
	if err := d.targets.Upload(d.call.Context(), d.call.Stream, address.BytesOf(d.list)); err != nil {
		return err
	}
	var err error
	count, text := uint32(len(d.list)), d.text.asArgument()
	if d.layout.lines() {
		err = d.launch("members", "write_strings", d.rowTiles(), 128, d.targets, count, d.ends, text, d.tokens)
	} else {
		err = d.launch("texts", "write_texts", d.rowTiles(), 256, d.targets, count, d.ends, text, d.nulls.asArgument())
	}
	if err != nil {
		return err
	}
	return d.recordUse()
}

// emptyColumns returns columns without rows.
func (b *Batch) emptyColumns() (columns []*column.Column, err error) {
	for _, c := range b.layout.Columns {
		l, err := layout.Of(c.Type)
		if err != nil {
			return columns, err
		}
		empty, err := column.New(column.Data{Type: c.Type, Manager: b.manager, Buffers: make([]column.Bytes, l.Buffers())})
		if err != nil {
			return columns, err
		}
		columns = append(columns, empty)
	}
	return columns, nil
}
