package rowgroups

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda

//go:embed cuda/*.ptx.packed
var kernelCode embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: kernelCode, Directory: "cuda", Apart: true}

// deviceGroup is a row group of a table on a device. Kernels convert integers, find the distinct values of
// integers and texts, and pack their indices or their differences. The host gets these, or the values of the
// other columns, and makes the pages.
type deviceGroup struct {
	call     op.Call
	pageRows int
	columns  []*deviceColumn
	blocks   []*memory.Block
	// host allocates memory of the host that the device copies to.
	host *memory.PinnedAllocator
}

// deviceColumn is a column of a row group.
type deviceColumn struct {
	*column.Column
	leaf leaf
	rows rows
	// layout are the rows as kernels read them, and ranks the numbers of valid rows before each block of
	// them.
	layout rowsLayout
	ranks  []uint32

	integers *deviceIntegers
	texts    *deviceTexts
	// dictionary is set if the column has one.
	dictionary *deviceDictionary
}

// groupStreams are the streams of row groups that a device works on at the same time.
var groupStreams perdevice.Cache[chan *device.Stream]

// GroupsAtOnce is the number of row groups that a device should work on at the same time: their copies
// overlap.
const GroupsAtOnce = 4

func newGroupStreams(dev *device.Device) (chan *device.Stream, error) {
	free := make(chan *device.Stream, GroupsAtOnce)
	for range GroupsAtOnce {
		stream, err := dev.NewStream()
		if err != nil {
			return nil, err
		}
		free <- stream
	}
	return free, nil
}

// mostPinned limits the page-locked memory of row groups.
const mostPinned = 2 << 30

// EncodeColumns prepares a row group of columns on a device that is no host. They have the types of the
// schema, dictionaries aside, and the same number of rows, at least one. It may be called concurrently.
//
// # Waiting
//
// It returns when the columns may be released.
//
// # Ownership
//
// The caller passes the row group to [Writer.WriteGroup], or releases it.
//
// # Errors
//
// An error that wraps [memory.ErrBudget] or [device.ErrOutOfMemory] reports that the device has no memory for the
// kernels: [Writer.Write] may be called with the same rows.
func (w *Writer) EncodeColumns(ctx context.Context, m *memory.Manager, columns []*column.Column, rows int) (*RowGroup, error) {
	r, err := w.encodeColumns(ctx, m, columns, rows)
	if err != nil {
		return nil, fmt.Errorf("rowgroups: encode: %w", err)
	}
	return r, nil
}

// hostMemory returns the allocator of memory that devices copy to.
func (w *Writer) hostMemory(dev *device.Device) *memory.PinnedAllocator {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pinned == nil {
		w.pinned = memory.NewPinnedAllocator(dev, mostPinned)
	}
	return w.pinned
}

func (w *Writer) encodeColumns(ctx context.Context, m *memory.Manager, columns []*column.Column, rows int) (r *RowGroup, err error) {
	streams, err := groupStreams.Get(m.Device(), newGroupStreams)
	if err != nil {
		return nil, err
	}
	stream := <-streams
	defer func() { streams <- stream }()
	call, err := op.Begin(ctx, kernels.Options{Manager: m, Stream: stream}, columns...)
	if err != nil {
		return nil, err
	}
	call.Spare = true // the caller may copy the columns
	g := &deviceGroup{call: call, pageRows: w.pageRows, host: w.hostMemory(m.Device())}
	r = &RowGroup{rows: rows}
	defer func() {
		if err = errors.Join(err, g.release()); err != nil {
			r.Release()
			r = nil
		}
	}()
	for i, c := range columns {
		g.columns = append(g.columns, &deviceColumn{Column: c, leaf: w.leaves[i]})
	}
	for _, step := range []func() error{g.findRows, g.findFacts, g.findIntegers, g.findTexts, g.writeDeltas, g.pack} {
		if err := step(); err != nil {
			return r, err
		}
	}
	r.encoders, err = g.encoders()
	return r, err
}

// release releases the memory of the kernels.
func (g *deviceGroup) release() error {
	for _, c := range g.columns {
		if c.dictionary != nil {
			g.host.Free(c.dictionary.packed)
		}
		if c.integers != nil && c.integers.deltas != nil {
			g.host.Free(c.integers.deltas.bytes)
		}
	}
	return release.All(g.blocks)
}

// scratch allocates memory for kernels, which release releases.
func (g *deviceGroup) scratch(bytes ...uint64) ([]memory.Slice[uint8], error) {
	block, slices, err := g.call.Scratch(bytes...)
	if block != nil {
		g.blocks = append(g.blocks, block)
	}
	return slices, err
}

// zeros allocates memory for kernels that is zero.
func (g *deviceGroup) zeros(bytes ...uint64) ([]memory.Slice[uint8], error) {
	all, err := g.scratch(bytes...)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Len() > 0 {
			if err := s.Fill(g.call.Stream, 0); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// download copies memory of the device to that of values.
func download[T any](g *deviceGroup, from memory.Slice[uint8], to []T) memory.Destination {
	return memory.Destination{From: from, Data: address.BytesOf(to)}
}

func (g *deviceGroup) downloads(all []memory.Destination) error {
	all = slices.DeleteFunc(all, func(d memory.Destination) bool { return len(d.Data) == 0 })
	if len(all) == 0 {
		return nil
	}
	return memory.Download(g.call.Context(), g.call.Stream, all)
}

// launch enqueues a kernel.
func (g *deviceGroup) launch(file, entry string, blocks int, arguments ...any) error {
	if blocks == 0 {
		return nil
	}
	kernel, err := g.call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return kernel.Launch(g.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: blockThreads}, 0, arguments...)
}

// blocksOf returns the number of blocks with a thread for each element.
func blocksOf(n int) int { return (n + blockThreads - 1) / blockThreads }

// findRows finds which rows are valid.
func (g *deviceGroup) findRows() error {
	bits := make([]int, len(g.columns))
	bitmaps := make([][]byte, len(g.columns))
	var all []memory.Destination
	for i, c := range g.columns {
		c.rows = rows{count: c.Len(), valid: c.Len()}
		c.layout = rowsLayout{bitmap: memory.Slice[uint8]{}, ranks: memory.Slice[uint8]{}, count: uint32(c.Len())}
		if !op.Nullable(c.Column) {
			continue
		}
		bitmap, bit, err := c.Validity()
		if err != nil {
			return err
		}
		c.layout.bitmap, c.layout.bit, bits[i] = bitmap, uint32(bit), bit
		bitmaps[i] = make([]byte, bitmap.Len())
		all = append(all, download(g, bitmap, bitmaps[i]))
	}
	if err := g.downloads(all); err != nil {
		return err
	}
	for i, c := range g.columns {
		if bitmaps[i] == nil {
			continue
		}
		c.rows.valid = bitutil.CountSetBits(bitmaps[i], bits[i], c.Len())
		if c.rows.valid == c.Len() {
			c.layout.bitmap = memory.Slice[uint8]{}
			continue
		}
		c.rows.validity = make([]byte, (c.Len()+7)/8)
		bitutil.CopyBitmap(bitmaps[i], bits[i], c.Len(), c.rows.validity, 0)
		if !c.leaf.optional {
			return fmt.Errorf("column %q has %d nulls, by its schema it has none: %w", c.leaf.name, c.Len()-c.rows.valid, ErrValue)
		}
	}
	return nil
}

// rankRows counts the valid rows before each block of rows, for the kernels.
func (c *deviceColumn) rankRows(g *deviceGroup) error {
	if c.rows.validity == nil {
		return nil
	}
	before := uint32(0)
	for row := 0; row < c.Len(); row += blockThreads {
		c.ranks = append(c.ranks, before)
		before += uint32(bitutil.CountSetBits(c.rows.validity, row, min(blockThreads, c.Len()-row)))
	}
	ranks, err := g.scratch(uint64(4 * len(c.ranks)))
	if err != nil {
		return err
	}
	c.layout.ranks = ranks[0]
	return ranks[0].Upload(g.call.Context(), g.call.Stream, address.BytesOf(c.ranks))
}

// findFacts begins to look at the columns that can have a dictionary.
func (g *deviceGroup) findFacts() error {
	for _, c := range g.columns {
		if c.rows.valid == 0 {
			continue
		}
		form, isNumber := formOf(&c.leaf, c.Type())
		isText := c.leaf.dictionary && isText(c.Type())
		if !isNumber && !isText {
			continue
		}
		if err := c.rankRows(g); err != nil {
			return err
		}
		var err error
		if isNumber {
			err = c.startIntegers(g, form)
		} else {
			err = c.startTexts(g)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", c.leaf.name, err)
		}
	}
	var all []memory.Destination
	for _, c := range g.columns {
		switch {
		case c.integers != nil:
			all = append(all, download(g, c.integers.outcome, c.integers.facts), download(g, c.integers.status, c.integers.refused[:]))
		case c.texts != nil:
			all = append(all, download(g, c.texts.outcome, c.texts.totals[:]))
		}
	}
	return g.downloads(all)
}

func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return true
	}
	return false
}

// encoders returns encoders of the columns: of indices, of numbers that are converted, or of arrays.
func (g *deviceGroup) encoders() ([]encoder, error) {
	encoders := make([]encoder, len(g.columns))
	var arrays []*column.Column
	var places []int
	var all []memory.Destination
	for i, c := range g.columns {
		switch {
		case c.dictionary != nil:
			encoders[i] = &indexEncoder{c.leaf, c.dictionary, c.rows, g.host}
			c.dictionary = nil // which release would free
		case c.integers != nil && c.integers.deltas != nil:
			encoders[i] = &deltaEncoder{c.leaf, c.rows, c.integers.deltas, g.host}
			c.integers.deltas = nil // which release would free
		case c.integers != nil && c.integers.refused[0] == 0:
			e := &numberEncoder{c.leaf, c.rows, c.integers.encoding, g.host.AllocateUninitialized(c.integers.values.Len()), g.host}
			all = append(all, download(g, c.integers.values, e.numbers))
			encoders[i] = e
		default:
			arrays, places = append(arrays, c.Column), append(places, i)
		}
	}
	if err := g.downloads(all); err != nil || len(arrays) == 0 {
		return encoders, err
	}
	copies, err := column.ToArrays(g.call.Context(), arrays, column.DownloadOptions{Stream: g.call.Stream, Allocator: g.host})
	for k, i := range places {
		if err == nil {
			c := g.columns[i]
			c.leaf.dictionary = c.leaf.dictionary && c.texts == nil
			encoders[i] = &arrayEncoder{&c.leaf, []arrow.Array{copies[k]}}
		}
	}
	return encoders, err
}

// indexEncoder encodes indices of a dictionary.
type indexEncoder struct {
	leaf       leaf
	dictionary *deviceDictionary
	rows       rows
	host       *memory.PinnedAllocator
}

func (e *indexEncoder) encode(pageRows int, raw []byte, s *scratch) (*chunk, error) {
	d := e.dictionary
	return encodePages(&e.leaf, pages.RLEDictionary, nil, &indexed{d, d.distinct, d.count}, e.rows, pageRows, raw, s), nil
}

func (e *indexEncoder) release() { e.host.Free(e.dictionary.packed) }

// numberEncoder encodes numbers of the file.
type numberEncoder struct {
	leaf     leaf
	rows     rows
	encoding int
	numbers  []byte
	host     *memory.PinnedAllocator
}

func (e *numberEncoder) encode(pageRows int, raw []byte, s *scratch) (*chunk, error) {
	var v values = numbers[uint32]{arrow.GetData[uint32](e.numbers), e.leaf.order}
	if e.leaf.width == 8 {
		v = numbers[uint64]{arrow.GetData[uint64](e.numbers), e.leaf.order}
	}
	return encodePages(&e.leaf, e.encoding, v, nil, e.rows, pageRows, raw, s), nil
}

func (e *numberEncoder) release() { e.host.Free(e.numbers) }

// deltaEncoder encodes pages of integers in DELTA_BINARY_PACKED.
type deltaEncoder struct {
	leaf   leaf
	rows   rows
	deltas *deviceDeltas
	host   *memory.PinnedAllocator
}

func (e *deltaEncoder) encode(pageRows int, raw []byte, s *scratch) (*chunk, error) {
	return encodePages(&e.leaf, pages.DeltaBinaryPacked, e.deltas, nil, e.rows, pageRows, raw, s), nil
}

func (e *deltaEncoder) release() { e.host.Free(e.deltas.bytes) }
