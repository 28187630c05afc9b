package window

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// Constants of cuda/heads.cu.
const (
	headRows      = 4096
	headThreads   = 256
	headWordBytes = 16
	extentThreads = 1024
	extentBytes   = 12
	groupTiles    = 32
	sampleThreads = 1024
)

// heads are the places at which runs of equal keys begin, in memory of a GPU: HeadWord of
// cuda/heads.cuh. A nil pointer stands for one run.
type heads struct {
	words memory.Slice[uint8]
	// bits has a bit for each place, until the words are written.
	bits memory.Slice[uint8]
	// tiles has the extents of tiles, and groups those of groups of tiles. They are empty for
	// one tile.
	tiles, groups memory.Slice[uint8]
}

// layout is the kernels' Heads.
func (h *heads) layout() headsLayout {
	if h == nil {
		return headsLayout{}
	}
	return headsLayout{words: h.words}
}

// output is the kernels' Found.
func (h *heads) output() any {
	if h == nil {
		h = &heads{}
	}
	l := foundLayout{bits: h.bits, tiles: h.tiles}
	return l.asArgument()
}

// newHeads allocates heads, which the arrangement releases.
func (a *arrangement) newHeads(call *op.Call) (*heads, error) {
	tiles := uint64(tilesOf(a.rows, headRows))
	words := tiles * headRows / 32
	sizes := []uint64{words * headWordBytes, words * 4}
	if tiles > 1 {
		sizes = append(sizes, tiles*extentBytes, (tiles+groupTiles-1)/groupTiles*extentBytes)
	}
	block, slices, err := call.Scratch(sizes...)
	if err != nil {
		return nil, err
	}
	a.owned.Add(block)
	h := &heads{words: slices[0], bits: slices[1]}
	if tiles > 1 {
		h.tiles, h.groups = slices[2], slices[3]
	}
	return h, nil
}

// places is the kernels' Places.
func (a *arrangement) places() any {
	l := placesLayout{listed: a.listed, counted: a.counted, capacity: int64(a.rows)}
	return l.asArgument()
}

// findHeads enqueues the kernel that compares neighbours.
func (a *arrangement) findHeads(call *op.Call, name string, arguments ...any) error {
	f, err := call.Kernel(&set, "heads", name)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(tilesOf(a.rows, headRows))}, device.Dim3{X: headThreads}, 0, arguments...)
}

// finishHeads enqueues the kernels that write for every 32 places what is around them. They do nothing if unsorted has
// memory and a sample has set it.
func (a *arrangement) finishHeads(call *op.Call, h *heads, unsorted memory.Slice[uint8]) error {
	if h == nil {
		return nil
	}
	tiles := tilesOf(a.rows, headRows)
	if tiles > 1 {
		f, err := call.Kernel(&set, "heads", "heads_tiles")
		if err != nil {
			return err
		}
		if err := f.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: extentThreads}, 0, h.tiles, uint32(tiles), h.groups, unsorted); err != nil {
			return err
		}
	}
	f, err := call.Kernel(&set, "heads", "heads_finish")
	if err != nil {
		return err
	}
	warps := headThreads / 32
	return f.Launch(call.Stream, device.Dim3{X: uint32((tiles + warps - 1) / warps)}, device.Dim3{X: headThreads}, 0,
		h.words, h.bits, h.tiles, h.groups, uint32(tiles), a.counted, int64(a.rows), unsorted)
}

// headKey is a column of numbers as a kernel compares it.
type headKey struct {
	column *column.Column
	view   op.View
	format numbers.Type
	key    order.Key
}

// flip returns the bits that give the words of integers the order of the key.
func (k *headKey) flip() (mask uint64) {
	if k.format.Class == numbers.Signed {
		mask = 1 << (k.format.Bits() - 1)
	}
	if k.key.Descending {
		mask = ^mask
	}
	return mask
}

// layout is the kernels' HeadKey.
func (k *headKey) layout() headKeyLayout {
	return headKeyLayout{column: layoutOf(k.view), format: formatCode(k.format), descending: kernelset.Flag(k.key.Descending), nullsFirst: kernelset.Flag(k.key.NullsFirst)}
}

// comparing is the comparison of neighbours on a GPU by columns of numbers.
type comparing struct {
	call op.Call
	keys []headKey
}

// Release releases the columns of the keys. The comparing may be nil.
func (c *comparing) Release() error {
	if c == nil {
		return nil
	}
	var failures []error
	for i := range c.keys {
		failures = append(failures, c.keys[i].column.Release())
	}
	return errors.Join(failures...)
}

// newComparing returns nil if the kernels do not compare the keys themselves: if there are
// too many, or one is not a column of numbers. The caller releases the result.
func (a *arrangement) newComparing() (c *comparing, err error) {
	keys := a.windows.keys()
	if len(keys) > mostHeadKeys || a.rows == 0 {
		return nil, nil
	}
	candidate := &comparing{}
	defer func() {
		if c == nil {
			err = errors.Join(err, candidate.Release())
		}
	}()
	var columns []*column.Column
	for _, key := range keys {
		values, format, err := a.numberKey(key)
		if values == nil || err != nil {
			return nil, err
		}
		candidate.keys = append(candidate.keys, headKey{column: values, format: format, key: key})
		columns = append(columns, values)
	}
	if candidate.call, err = op.Begin(a.ctx, a.scratch(), columns...); err != nil || candidate.call.OnHost() {
		return nil, err
	}
	if a.counted.Len() > 0 {
		if err := a.counted.Order(candidate.call.Stream); err != nil {
			return nil, err
		}
	}
	for i := range candidate.keys {
		if candidate.keys[i].view, err = candidate.call.View(candidate.keys[i].column); err != nil {
			return nil, err
		}
	}
	return candidate, nil
}

// numberKey returns the column of a key, with a reference, or nil if it is not a valid key
// that is a column of numbers. Package order reports what is wrong with a key.
func (a *arrangement) numberKey(key order.Key) (*column.Column, numbers.Type, error) {
	values := key.Values
	if values == nil {
		name := key.Column
		if !key.Expr.IsZero() {
			var ok bool
			if name, ok = key.Expr.Column(); !ok || key.Column != "" {
				return nil, noFormat, nil
			}
		}
		var err error
		if values, err = a.table.ColumnByName(name); err != nil {
			return nil, noFormat, nil
		}
	} else if key.Column != "" || !key.Expr.IsZero() || values.Check() != nil || values.Len() != a.capacity {
		return nil, noFormat, nil
	}
	format, ok := numbers.TypeOf(values.Type())
	if !ok || values.Type().ID() == arrow.INTERVAL_MONTHS {
		return nil, noFormat, nil
	}
	return values, format, values.Retain()
}

// compare finds the heads of partitions and of peers. If unsorted has memory, its second word receives 1
// if a row sorts before its predecessor, unless the first word says that some do: then the heads are undefined.
func (a *arrangement) compare(c *comparing, unsorted memory.Slice[uint8]) (err error) {
	call := &c.call
	if len(a.windows.PartitionBy) > 0 && a.partitions == nil {
		if a.partitions, err = a.newHeads(call); err != nil {
			return err
		}
	}
	if len(a.windows.OrderBy) > 0 && a.peers == nil {
		if a.peers, err = a.newHeads(call); err != nil {
			return err
		}
	}
	if first := &c.keys[0]; len(c.keys) == 1 && first.view.Valid.Len() == 0 && first.format.Class != numbers.Float && first.format.Bytes >= 4 {
		heads := a.partitions
		if heads == nil {
			heads = a.peers
		}
		name := map[int]string{4: "heads_32", 8: "heads_64"}[first.format.Bytes]
		values, places := first.view.Values, a.places()
		if a.inOrder != nil {
			in, err := call.View(a.inOrder)
			if err != nil {
				return err
			}
			l := placesLayout{listed: memory.Slice[uint32]{}, counted: a.counted, capacity: int64(a.rows)}
			values, places = in.Values, l.asArgument()
		}
		err = a.findHeads(call, name, places, values, first.flip(), heads.output(), unsorted)
	} else {
		err = a.findHeads(call, "heads_any", a.places(), a.headKeys(c), a.partitions.output(), a.peers.output(), unsorted)
	}
	if err != nil {
		return err
	}
	if err := a.finishHeads(call, a.partitions, unsorted); err != nil {
		return err
	}
	return a.finishHeads(call, a.peers, unsorted)
}

// headKeys is the kernels' HeadKeys.
func (a *arrangement) headKeys(c *comparing) any {
	l := headKeysLayout{partitions: uint32(len(a.windows.PartitionBy)), count: uint32(len(c.keys))}
	for i := range c.keys {
		l.key[i] = c.keys[i].layout()
	}
	return l.asArgument()
}

// sample sets the first word of unsorted if some neighbours of many rows are not in order. Then
// the whole table is not read to learn that.
func (a *arrangement) sample(c *comparing, unsorted memory.Slice[uint8]) error {
	if !a.isLarge() {
		return nil
	}
	f, err := c.call.Kernel(&set, "heads", "heads_sample")
	if err != nil {
		return err
	}
	return f.Launch(c.call.Stream, device.Dim3{X: 1}, device.Dim3{X: sampleThreads}, 0, a.places(), a.headKeys(c), unsorted)
}

// arrangeByComparing finds the heads and, if the rows are not in order, sorts them first. It
// reports whether it did.
func (a *arrangement) arrangeByComparing() (done bool, err error) {
	c, err := a.newComparing()
	if c == nil || err != nil {
		return false, err
	}
	sorted, err := a.comparedSorted(c)
	if err == nil && !sorted {
		if err = a.sort(); err == nil {
			err = a.compare(c, memory.Slice[uint8]{})
		}
	}
	_, err = release.OnError(c, err, nil)
	if err != nil {
		return false, err
	}
	return true, c.Release()
}

// comparedSorted finds the heads of the table as it is, and reports whether it is in order.
func (a *arrangement) comparedSorted(c *comparing) (sorted bool, err error) {
	block, slices, err := c.call.Scratch(8)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	if err := slices[0].Fill(c.call.Stream, 0); err != nil {
		return false, err
	}
	if err := a.sample(c, slices[0]); err != nil {
		return false, err
	}
	if err := a.compare(c, slices[0]); err != nil {
		return false, err
	}
	flags, err := memory.Reinterpret[uint32](slices[0])
	if err != nil {
		return false, err
	}
	var unsorted [2]uint32
	if err := flags.Download(a.ctx, c.call.Stream, unsorted[:]); err != nil {
		return false, err
	}
	return unsorted == [2]uint32{}, nil
}
