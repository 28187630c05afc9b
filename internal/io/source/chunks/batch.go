package chunks

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx.packed
var kernelCode embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: kernelCode, Directory: "cuda", Apart: true}

// Batch is column chunks on the device, ready to be decoded.
type Batch struct {
	manager *memory.Manager
	options Options
	planner
	// bytes has the bytes of the chunks, plain those of pages behind their compression, memory the lists and the results of
	// kernels for others, columns the bitmaps and the values of columns. The last two are allocated when the batch is decoded,
	// plain then or when it is copied.
	bytes, plain, memory, columns *memory.Block
	// input, lists and work are spaces, descriptions and outcomes those of the pages. zeroed are the bits of columns.
	input, lists, work, descriptions, outcomes, zeroed memory.Slice[uint8]
	launches                                           []launch
	// placed is true after the first call of place, which returned unplaced.
	placed   bool
	unplaced error
}

// launch is a kernel with a block for each element of a list.
type launch struct {
	file, entry string
	threads     uint32
	blocks      int
	list        memory.Slice[uint8]
	tables      []*table // further arguments
}

// table is a list that several kernels read.
type table struct {
	bytes  []byte
	memory memory.Slice[uint8]
}

// behind is the number of bytes behind pages that kernels read: see load_bytes.
const behind = 16

// Copy plans the pages of columns and copies their bytes to a device that is no host. The copy has Options.CopyStream, so
// that the device decodes another batch meanwhile. Without Options.DecompressStream it allocates no more than these bytes.
//
// # Waiting
//
// Copy returns when the bytes of the chunks may be reused.
//
// # Ownership
//
// The caller releases the batch.
//
// # Errors
//
// Those of [Decode] that headers of pages show.
func Copy(ctx context.Context, m *memory.Manager, columns []Column, options Options) (*Batch, error) {
	b := &Batch{manager: m, options: options}
	b.planner = planner{spaces: newSpaces(), dictionaryTiles: tileGroups{}, tiles: tileGroups{}, packed: map[decompress.Codec]*packed{}}
	for i := range columns {
		err := columns[i].check()
		if err == nil {
			err = b.column(i, &columns[i])
		}
		if err != nil {
			return nil, fmt.Errorf("chunks: %w", err)
		}
	}
	if err := b.copy(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("chunks: copy: %w", err), b.Release())
	}
	return b, nil
}

// Release gives the memory of the batch back. Columns of it hold theirs.
func (b *Batch) Release() error {
	err := errors.Join(b.bytes.Release(), b.plain.Release(), b.memory.Release(), b.columns.Release())
	b.bytes, b.plain, b.memory, b.columns = nil, nil, nil, nil
	return err
}

// Decompressed is the length of the pages that were decompressed when they were copied.
func (b *Batch) Decompressed() uint64 { return b.plain.Bytes() }

// call begins work on the batch.
func (b *Batch) call(ctx context.Context) (op.Call, error) {
	return op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: b.options.Stream, Tag: b.options.Tag})
}

// copy copies the bytes of the chunks.
func (b *Batch) copy(ctx context.Context) error {
	stream := b.options.CopyStream
	if stream == nil {
		stream = b.options.Stream
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: stream})
	if err != nil {
		return err
	}
	call.Spare = b.options.CopyStream != nil
	b.arrange()
	b.placePacked()
	b.spaces.input.take(behind)
	var spaces []memory.Slice[uint8]
	if b.bytes, spaces, err = call.Scratch(b.spaces.input.bytes); err != nil {
		return err
	}
	b.input = spaces[0]
	if err := memory.Upload(ctx, call.Stream, b.input, b.sources); err != nil {
		return err
	}
	b.sources = nil // the caller may release the memory
	return b.ahead(ctx)
}

// place allocates the rest of the memory and copies the descriptions to it. The first call counts.
func (b *Batch) place(ctx context.Context, call *op.Call) error {
	if !b.placed {
		b.placed = true
		b.unplaced = b.allocate(ctx, call)
	}
	return b.unplaced
}

func (b *Batch) allocate(ctx context.Context, call *op.Call) (err error) {
	s := &b.spaces
	b.placeNested()
	s.work.take(behind)
	outcomes := s.work.take(outcomeBytes * uint64(len(b.pages)))
	descriptions := b.upload(address.BytesOf(b.pages))
	nested, checked := b.nest.tables(), b.checksums.tables()
	tables := append(slices.Clip(nested), checked...)
	lists := append(b.nest.kernels(nested), append(b.kernels(), b.checksums.kernels(checked)...)...)
	places, tablePlaces := make([]place, len(lists)), make([]place, len(tables))
	for i, l := range lists {
		places[i] = b.upload(l.bytes)
	}
	for i, t := range tables {
		tablePlaces[i] = b.upload(t.bytes)
	}
	var spaces, results []memory.Slice[uint8]
	if b.memory, spaces, err = call.Scratch(s.lists.bytes, s.work.bytes); err != nil {
		return err
	}
	if b.columns, results, err = call.Allocate(s.bits.bytes, s.values.bytes); err != nil {
		return err
	}
	b.lists, b.work, b.zeroed = spaces[0], spaces[1], results[0]
	s.input.base, s.work.base = uint64(b.input.Pointer()), uint64(b.work.Pointer())
	s.bits.base, s.values.base = uint64(results[0].Pointer()), uint64(results[1].Pointer())
	for i := range b.pages {
		p := &b.pages[i]
		s.resolve(&p.bytes, &p.levels, &p.to, &p.bitmap, &p.ranks, &p.counts, &p.dense, &p.places, &p.packed, &p.marks, &p.sums)
	}
	b.nest.resolve(s)
	for i := range b.checksums.list {
		s.resolve(&b.checksums.list[i].bytes)
	}
	for i, t := range tables {
		if t.memory, err = part(b.lists, tablePlaces[i], uint64(len(t.bytes))); err != nil {
			return err
		}
	}
	if b.outcomes, err = part(b.work, outcomes, outcomeBytes*uint64(len(b.pages))); err != nil {
		return err
	}
	if b.descriptions, err = part(b.lists, descriptions, uint64(len(address.BytesOf(b.pages)))); err != nil {
		return err
	}
	for i, l := range lists {
		if l.list, err = part(b.lists, places[i], uint64(len(l.bytes))); err != nil {
			return err
		}
		b.launches = append(b.launches, l.launch)
	}
	if len(b.pages) == 0 {
		return nil
	}
	return memory.Upload(ctx, call.Stream, b.lists, b.listed)
}

// list is a launch with its list on the host.
type list struct {
	launch
	bytes []byte
}

// step is a kernel for pages of one kind, or for their tiles.
type step struct {
	file, entry string
	threads     uint32
	pages       *work
	tiles       bool
}

// list returns the launch of a step, if there are such pages.
func (s step) list() []list {
	if len(s.pages.numbers) == 0 {
		return nil
	}
	l := list{launch{file: s.file, entry: s.entry, threads: s.threads, blocks: len(s.pages.numbers)}, address.BytesOf(s.pages.numbers)}
	if s.tiles {
		l.blocks, l.bytes = len(s.pages.tiles), address.BytesOf(s.pages.tiles)
	}
	return []list{l}
}

// kernels returns the kernels behind find_levels in their order.
func (b *Batch) kernels() (lists []list) {
	lists = append(lists, step{"levels", "write_levels", 64, &b.optional, true}.list()...)
	lists = append(lists, step{"levels", "scan_levels", 256, &b.optional, false}.list()...)
	lists = append(lists, b.dictionaryTiles.lists()...)
	for _, each := range []step{
		{"strings", "follow_lengths", 128, &b.plainStrings, false},
		{"indices", "find_indices", 256, &b.indices, false},
		{"indices", "write_indices", 128, &b.indices, true},
		{"deltas", "find_blocks", 256, &b.prefixes, false},
		{"deltas", "sum_deltas", 256, &b.prefixes, true},
		{"deltas", "scan_deltas", 256, &b.prefixes, false},
		{"deltas", "write_deltas", 256, &b.prefixes, true},
		{"deltas", "find_blocks", 256, &b.deltas, false},
		{"deltas", "sum_deltas", 256, &b.deltas, true},
		{"deltas", "scan_deltas", 256, &b.deltas, false},
		{"deltas", "write_deltas", 256, &b.deltas, true},
		{"strings", "sum_lengths", 256, &b.indexedStrings, true},
		{"strings", "scan_lengths", 256, &b.indexedStrings, false},
		{"strings", "place_lengths", 256, &b.indexedStrings, true},
		{"strings", "link_prefixes", 256, &b.prefixes, true},
		{"strings", "write_fixed", 256, &b.fixed, true},
	} {
		lists = append(lists, each.list()...)
	}
	return append(lists, b.tiles.lists()...)
}

// lists returns the kernels that write rows.
func (g tileGroups) lists() (lists []list) {
	for _, entry := range slices.Sorted(maps.Keys(g)) {
		lists = append(lists, list{launch{file: "rows", entry: entry, threads: 128, blocks: len(g[entry])}, address.BytesOf(g[entry])})
	}
	return lists
}

// part returns the part of a space's memory that begins at a place.
func part(whole memory.Slice[uint8], at place, bytes uint64) (memory.Slice[uint8], error) {
	return whole.Slice(int(at.offset()), int(at.offset()+bytes))
}

// Decode decodes the columns. Another call decodes the columns again, into the same memory, unless there was
// too little of it.
//
// # Waiting, ownership, errors
//
// They are those of the function [Decode].
func (b *Batch) Decode(ctx context.Context) (decoded []*column.Column, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("chunks: decode: %w", err), release.All(decoded))
			decoded = nil
		}
	}()
	call, err := b.call(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.decompress(&call); err != nil {
		return nil, err
	}
	// The lists are copied before the stream waits for the pages.
	if err := b.place(ctx, &call); err != nil {
		return nil, err
	}
	if err := errors.Join(call.OrderBehind(b.bytes), call.OrderBehind(b.plain)); err != nil {
		return nil, err
	}
	if b.zeroed.Len() > 0 {
		if err := b.zeroed.Fill(call.Stream, 0); err != nil {
			return nil, err
		}
	}
	if err := b.launch(&call); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(b.pages))
	if len(outcomes) > 0 {
		if err := b.outcomes.Download(ctx, call.Stream, address.BytesOf(outcomes)); err != nil {
			return nil, err
		}
	}
	if err := b.damage(outcomes); err != nil {
		return nil, err
	}
	elements, err := b.nestedElements(ctx, &call)
	if err != nil {
		return nil, err
	}
	strings, err := b.writeStrings(&call, outcomes)
	if err != nil {
		return nil, err
	}
	for i, output := range b.outputs {
		var c *column.Column
		if output.nested != nil {
			a := assembly{batch: b, nestedColumn: output.nested, index: i, first: output.first, outcomes: outcomes, strings: strings, elements: elements}
			c, err = a.column(ctx)
		} else {
			c, err = b.result(ctx, &b.targets[output.first], outcomes, strings[output.first])
		}
		if err != nil {
			return decoded, errors.Join(err, strings.release())
		}
		decoded = append(decoded, c)
	}
	return decoded, strings.release()
}

// damage returns the error of the first page with damage.
func (b *Batch) damage(outcomes []outcome) error {
	for i, o := range outcomes {
		if o.status != 0 {
			damage := b.origins[i].Error
			if o.status == damageLong {
				return fmt.Errorf("column %d: the strings of a page: %w", damage.Column, ErrLong)
			}
			damage.Err = damageError(o, b.origins[i].codec)
			return &damage
		}
	}
	return nil
}

// launch enqueues the kernels.
func (b *Batch) launch(call *op.Call) error {
	if len(b.pages) == 0 {
		return nil
	}
	if err := b.kernel(call, launch{file: "levels", entry: "find_levels", threads: 256, blocks: len(b.pages)}); err != nil {
		return err
	}
	for _, l := range b.launches {
		arguments := []any{l.list}
		for _, t := range l.tables {
			arguments = append(arguments, t.memory)
		}
		if err := b.kernel(call, l, arguments...); err != nil {
			return err
		}
	}
	return b.recordUse(call)
}

// recordUse records the use of the memory that kernels find by addresses in descriptions.
func (b *Batch) recordUse(call *op.Call) error {
	err := errors.Join(b.bytes.RecordUse(call.Stream), b.memory.RecordUse(call.Stream))
	for _, block := range []*memory.Block{b.plain, b.columns} {
		if block != nil {
			err = errors.Join(err, block.RecordUse(call.Stream))
		}
	}
	return err
}

// kernel enqueues a kernel.
func (b *Batch) kernel(call *op.Call, l launch, arguments ...any) error {
	kernel, err := call.Kernel(&set, l.file, l.entry)
	if err != nil {
		return err
	}
	arguments = append([]any{b.descriptions, b.outcomes}, arguments...)
	return kernel.Launch(call.Stream, device.Dim3{X: uint32(l.blocks)}, device.Dim3{X: l.threads}, 0, arguments...)
}
