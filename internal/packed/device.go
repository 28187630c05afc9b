package packed

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx.packed
var kernelCode embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: kernelCode, Directory: "cuda"}

const (
	// unpackThreads is the number of threads for a tile.
	unpackThreads = 256
	// blockTiles is the number of tiles of a whole block, for each of which a block of threads is launched.
	blockTiles = BlockRows / TileRows
	// sourceAlignment is the alignment of blocks, dictionaries and descriptions on the device.
	sourceAlignment = 8
)

// deviceBlock is Block of block.cuh.
type deviceBlock struct {
	bytes, textAt           uint64
	row, rows, length, text uint32
	column, coded           uint32
}

// deviceColumn is Column of block.cuh.
type deviceColumn struct {
	values, bitmap, bytes, offsets, strings uint64
	entries, kind                           uint32
}

// Batch is packed columns on a device, ready to be unpacked. It is not safe for concurrent use.
type Batch struct {
	manager *memory.Manager
	options Options
	columns []Column
	kinds   []kind
	// input is the memory of block: the packed blocks, the dictionaries and the descriptions of blocks.
	block *memory.Block
	input memory.Slice[uint8]
	// targets are the columns without the addresses of their memory.
	targets []deviceColumn
	values  launch
	texts   launch
}

// launch is a kernel with blocks.
type launch struct {
	entry  string
	blocks []deviceBlock
	// numbers are the column and the block of each.
	numbers []Error
	list    memory.Slice[uint8]
}

// Copy copies packed columns to the device of a manager, in one transfer. On the host [Batch.Unpack] reads them in
// place.
//
// # Waiting
//
// Copy returns when the bytes of the columns may be reused, but on the host: there they stay in use until the batch is
// released.
//
// # Ownership
//
// The caller releases the batch.
//
// # Errors
//
// They are those of [Unpack] that the contents of blocks do not decide.
func Copy(ctx context.Context, m *memory.Manager, columns []Column, options Options) (*Batch, error) {
	b := &Batch{manager: m, options: options, columns: columns, values: launch{entry: "unpack_values"}, texts: launch{entry: "unpack_texts"}}
	for i := range columns {
		k, err := columns[i].check()
		if err == nil {
			_, _, text := columns[i].sizes()
			err = k.checkText(ctx, text)
		}
		if err != nil {
			return nil, fmt.Errorf("packed: %w", located(err, i))
		}
		b.kinds = append(b.kinds, k)
	}
	if m.Device().Kind() == device.Host {
		return b, nil
	}
	if err := b.copy(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("packed: copy: %w", err), b.Release())
	}
	return b, nil
}

// Release gives the memory of the batch back. Columns of it have theirs.
func (b *Batch) Release() error {
	err := b.block.Release()
	b.block = nil
	return err
}

// copier lists what is copied.
type copier struct {
	bytes   uint64
	sources []memory.Source
}

// add adds bytes and returns their offset. Those behind the last ones in memory become part of them.
func (c *copier) add(bytes []byte) (offset uint64) {
	if last := len(c.sources) - 1; last >= 0 && len(bytes) > 0 {
		before := &c.sources[last]
		n := len(before.Data)
		if c.bytes == before.Offset+uint64(n) && cap(before.Data) >= n+len(bytes) && &before.Data[:n+1][n] == &bytes[0] {
			before.Data = before.Data[:n+len(bytes)]
			c.bytes += uint64(len(bytes))
			return before.Offset + uint64(n)
		}
	}
	c.bytes = (c.bytes + sourceAlignment - 1) &^ (sourceAlignment - 1)
	offset = c.bytes
	c.bytes += uint64(len(bytes))
	if len(bytes) > 0 {
		c.sources = append(c.sources, memory.Source{Offset: offset, Data: bytes})
	}
	return offset
}

// copy allocates the memory of the batch and copies blocks, dictionaries and descriptions to it.
func (b *Batch) copy(ctx context.Context) error {
	stream := b.options.CopyStream
	if stream == nil {
		stream = b.options.Stream
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: stream, Tag: op.ScratchTag})
	if err != nil {
		return err
	}
	var c copier
	for i := range b.columns {
		b.plan(&c, i)
	}
	lists := [2]uint64{}
	for i, l := range b.launches() {
		lists[i] = c.add(address.BytesOf(l.blocks))
	}
	if c.bytes == 0 {
		return nil
	}
	if err := b.allocate(&call, c.bytes); err != nil {
		return err
	}
	base := uint64(b.input.Pointer())
	for i, l := range b.launches() {
		for k := range l.blocks {
			l.blocks[k].bytes += base
		}
		if l.list, err = b.input.Slice(int(lists[i]), int(lists[i])+len(address.BytesOf(l.blocks))); err != nil {
			return err
		}
	}
	for i := range b.targets {
		if t := &b.targets[i]; t.entries > 0 {
			t.offsets, t.strings = t.offsets+base, t.strings+base
		}
	}
	return memory.Upload(ctx, call.Stream, b.input, c.sources)
}

// allocate allocates the memory of the batch.
func (b *Batch) allocate(call *op.Call, bytes uint64) (err error) {
	options := memory.AllocateOptions{Stream: call.Stream, Tag: op.ScratchTag, Retried: memory.IsRetrying(call.Context()), Spare: b.options.CopyStream != nil}
	if b.options.CopyStream != nil {
		b.block, err = b.manager.Allocate(bytes, options)
	} else {
		b.block, err = b.manager.AllocateContext(call.Context(), bytes, options)
	}
	if err == nil {
		b.input, err = memory.View[uint8](b.block, 0, int(bytes))
	}
	return err
}

func (b *Batch) launches() [2]*launch { return [2]*launch{&b.values, &b.texts} }

// plan plans a column.
func (b *Batch) plan(c *copier, index int) {
	k, packed := b.kinds[index], &b.columns[index]
	t := deviceColumn{kind: uint32(k)}
	l := &b.values
	if k.isText() {
		l = &b.texts
	}
	row, text, coded := uint32(0), uint64(0), false
	for i := range packed.Blocks {
		block := &packed.Blocks[i]
		d := deviceBlock{
			bytes: c.add(block.Bytes), textAt: text, row: row, rows: uint32(block.Rows),
			length: uint32(len(block.Bytes)), text: block.Text, column: uint32(index),
		}
		if block.Coded {
			d.coded, coded = 1, true
		}
		l.blocks, l.numbers = append(l.blocks, d), append(l.numbers, Error{Column: index, Block: i})
		row, text = row+d.rows, text+uint64(d.text)
	}
	if d := packed.Dictionary; coded && d.Len() > 0 {
		t.entries, t.offsets, t.strings = uint32(d.Len()), c.add(address.BytesOf(d.offsets)), c.add(d.bytes)
	}
	b.targets = append(b.targets, t)
}

// Unpack unpacks the columns. Another call unpacks them again, into other memory.
//
// # Waiting, ownership, errors
//
// They are those of the function [Unpack].
func (b *Batch) Unpack(ctx context.Context) (unpacked []*column.Column, err error) {
	if b.manager.Device().Kind() == device.Host {
		unpacked, err = unpackOnHost(ctx, b.manager, b.columns, b.options)
	} else {
		unpacked, err = b.unpack(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("packed: unpack: %w", err)
	}
	return unpacked, nil
}

func (b *Batch) unpack(ctx context.Context) (unpacked []*column.Column, err error) {
	call, err := op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: b.options.Stream, Tag: b.options.Tag})
	if err != nil {
		return nil, err
	}
	var sizes []uint64
	for i := range b.columns {
		rows, nulls, text := b.columns[i].sizes()
		bitmap := uint64(0)
		if nulls > 0 {
			bitmap = op.BitmapBytes(rows)
		}
		if rows > 0 {
			sizes = append(sizes, bitmap, b.kinds[i].numberBytes(rows), text)
		} else {
			sizes = append(sizes, 0, 0, 0)
		}
	}
	block, slices, err := call.Allocate(sizes...)
	if err != nil {
		return nil, err
	}
	if block != nil {
		defer func() {
			if err = errors.Join(err, block.Release()); err != nil {
				err, unpacked = errors.Join(err, release.All(unpacked)), nil
			}
		}()
		if err := b.run(&call, slices); err != nil {
			return nil, err
		}
		if err := block.RecordUse(call.Stream); err != nil {
			return nil, err
		}
	}
	for i := range b.columns {
		c, err := b.result(i, slices[3*i:3*i+3])
		if err != nil {
			return unpacked, fmt.Errorf("column %d: %w", i, err)
		}
		unpacked = append(unpacked, c)
	}
	return unpacked, nil
}

// run runs the kernels, with the memory of columns, and waits for their outcomes.
func (b *Batch) run(call *op.Call, slices []memory.Slice[uint8]) (err error) {
	if err := call.OrderBehind(b.block); err != nil {
		return err
	}
	for i := range b.targets {
		t := &b.targets[i]
		t.bitmap, t.values, t.bytes = addressOf(slices[3*i]), addressOf(slices[3*i+1]), addressOf(slices[3*i+2])
	}
	outcomes := make([]uint32, len(b.values.blocks)+len(b.texts.blocks))
	scratch, lists, err := call.Scratch(uint64(len(address.BytesOf(b.targets))), uint64(4*len(outcomes)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Release()) }()
	if err := lists[1].Fill(call.Stream, 0); err != nil {
		return err
	}
	if err := memory.Upload(call.Context(), call.Stream, lists[0], []memory.Source{{Data: address.BytesOf(b.targets)}}); err != nil {
		return err
	}
	at := 0
	for _, l := range b.launches() {
		if len(l.blocks) == 0 {
			continue
		}
		status, err := lists[1].Slice(4*at, 4*(at+len(l.blocks)))
		if err != nil {
			return err
		}
		if err := l.run(call, lists[0], status); err != nil {
			return err
		}
		at += len(l.blocks)
	}
	if err := b.block.RecordUse(call.Stream); err != nil {
		return err
	}
	if err := lists[1].Download(call.Context(), call.Stream, address.BytesOf(outcomes)); err != nil {
		return err
	}
	return b.damage(outcomes)
}

// run enqueues the kernel.
func (l *launch) run(call *op.Call, columns, outcomes memory.Slice[uint8]) error {
	kernel, err := call.Kernel(&set, l.entry[len("unpack_"):], l.entry)
	if err != nil {
		return err
	}
	grid := device.Dim3{X: uint32(len(l.blocks) * blockTiles)}
	return kernel.Launch(call.Stream, grid, device.Dim3{X: unpackThreads}, 0, columns, l.list, outcomes)
}

// damage returns the error of the first damaged block.
func (b *Batch) damage(outcomes []uint32) error {
	numbers := append(append([]Error(nil), b.values.numbers...), b.texts.numbers...)
	for i, outcome := range outcomes {
		if outcome != 0 {
			damage := numbers[i]
			damage.Err = ErrDamaged
			return &damage
		}
	}
	return nil
}

// addressOf is the address of memory, or 0.
func addressOf(s memory.Slice[uint8]) uint64 {
	if s.Len() == 0 {
		return 0
	}
	return uint64(s.Pointer())
}

// result makes a column of its memory: the bitmap, the values or offsets, the strings.
func (b *Batch) result(index int, slices []memory.Slice[uint8]) (*column.Column, error) {
	packed := &b.columns[index]
	rows, nulls, _ := packed.sizes()
	data := column.Data{Type: packed.Type, Length: rows, NullCount: nulls, Manager: b.manager, Buffers: slices[:2:2]}
	if b.kinds[index].isText() {
		data.Buffers = slices
	}
	whole, err := column.New(data)
	if err != nil || packed.First == 0 && packed.Rows == int64(rows) {
		return whole, err
	}
	cut, err := whole.Slice(int(packed.First), int(packed.Rows))
	return release.OnError(cut, err, whole.Release())
}

// The sizes of descriptions are those that the kernels read.
var (
	_ [48]byte = [unsafe.Sizeof(deviceColumn{})]byte{}
	_ [40]byte = [unsafe.Sizeof(deviceBlock{})]byte{}
	_ [32]byte = [tileBytes]byte{}
)
