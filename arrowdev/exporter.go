package arrowdev

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// exporter makes one exported array: it measures the columns, holds their blocks and
// writes the structs.
type exporter struct {
	options ExportOptions
	owner   *export
	// home determines the location of arrays without memory, unless the options name a
	// device.
	home *memory.Manager
	// rows is the length of a table.
	rows int

	// measure sets these fields.
	nodes int
	bytes uintptr
	// zeros reports whether an array without elements lacks its one offset.
	zeros bool

	location location
	// device is the device of the memory, or nil.
	device *device.Device
	tree   *cabi.Tree
	// zero is the address of a zero, for columns that lack their offsets.
	zero uintptr
}

const (
	wordBytes  = unsafe.Sizeof(uintptr(0))
	arrayBytes = unsafe.Sizeof(cabi.Array{})
	// zeroBytes is the length of a buffer that holds one offset, as Arrow pads it.
	zeroBytes = 64
)

// export fills the struct. On an error nothing is held and the struct is unchanged.
func (e *exporter) export(out *cabi.DeviceArray) error {
	e.nodes = 1
	for i := range e.columns() {
		if err := e.measure(e.column(i)); err != nil {
			return err
		}
	}
	if e.owner.table != nil {
		e.bytes += cabi.Rounded(wordBytes) + uintptr(e.columns())*(wordBytes+arrayBytes)
		e.nodes += e.columns()
	}
	if err := e.locate(); err != nil {
		return err
	}
	if err := e.hold(); err != nil {
		return also(err, e.owner.end())
	}
	if err := e.write(out); err != nil {
		return also(err, e.owner.end())
	}
	return nil
}

// columns returns the number of columns below the root, or one if the root is a
// column.
func (e *exporter) columns() int {
	if e.owner.table != nil {
		return e.owner.table.NumColumns()
	}
	return 1
}

func (e *exporter) column(i int) *column.Column {
	if e.owner.table != nil {
		return e.owner.table.Column(i)
	}
	return e.owner.column
}

// measure adds the structs below the one of a column itself, and collects the
// column's blocks.
func (e *exporter) measure(c *column.Column) error {
	l, err := layoutOf(c.Type())
	if err != nil {
		return faulty("", "%w", err)
	}
	if _, err := c.NumRows(e.options.context()); err != nil {
		return faulty("", "fetch the number of rows: %w", err)
	}
	data := c.Data()
	for i, buffer := range data.Buffers {
		if block := buffer.Block(); block != nil && block.Bytes() > 0 {
			e.owner.note(block)
		}
		if e.lacksOffset(l, i, buffer) {
			e.zeros = true
		}
	}
	words := len(data.Buffers) + len(data.Children)
	if l.Kind == layout.View {
		words += 1 + max(len(data.Buffers)-l.Buffers(), 1)
	}
	e.bytes += uintptr(words)*wordBytes + uintptr(len(data.Children))*arrayBytes
	e.nodes += len(data.Children)
	for _, child := range data.Children {
		if err := e.measure(child); err != nil {
			return err
		}
	}
	if data.Dictionary == nil {
		return nil
	}
	e.bytes += arrayBytes
	e.nodes++
	return e.measure(data.Dictionary)
}

// lacksOffset reports whether a buffer must hold one offset and is empty. Consumers
// read this offset for arrays without elements too.
func (*exporter) lacksOffset(l layout.Layout, i int, buffer column.Bytes) bool {
	return i == 1 && (l.Kind == layout.Binary || l.Kind == layout.List) && buffer.Len() < l.Width
}

// locate finds the common location of all the memory. An array without memory has the
// location of the options, or that of home.
func (e *exporter) locate() error {
	if e.device = e.options.Device; e.device != nil {
		e.location = locationOf(e.device, device.MemoryDevice)
		if e.home != nil && e.home.Device().Same(e.device) {
			e.location = locationOfManager(e.home)
		}
	} else if e.location = cpu; e.home != nil {
		e.device, e.location = e.home.Device(), locationOfManager(e.home)
	}
	for i, block := range e.owner.blocks {
		if where := block.Device(); (i > 0 || e.options.Device != nil) && !where.Same(e.device) {
			return faulty("", "the columns are on %s and %s, expected one device: %w", where, e.device, ErrDevice)
		} else if i == 0 {
			e.device = where
		}
		switch p := locationOfBlock(block); {
		case i == 0:
			e.location = p
		case p != e.location:
			return faulty("", "the columns are in %v and in %v, expected one kind of memory: %w", e.location, p, ErrDevice)
		}
	}
	var err error
	e.owner.consumer, err = consumerStream(e.device, e.options.Stream)
	return err
}

// hold retains the blocks for the consumer, and makes their contents ready, now or at
// the event.
func (e *exporter) hold() error {
	if e.zeros {
		if err := e.makeZero(); err != nil {
			return faulty("", "make the offset of an empty array: %w", err)
		}
	}
	if err := e.owner.begin(); err != nil {
		return err
	}
	if e.location.hasEvents() {
		if err := e.owner.mark(); err != nil {
			return faulty("", "record an event after the work on the columns: %w", err)
		}
		return nil
	}
	for _, block := range e.owner.blocks {
		if err := block.Synchronize(e.options.context()); err != nil {
			return faulty("", "wait for the work on the columns: %w", err)
		}
	}
	return nil
}

// write writes the structs.
func (e *exporter) write(out *cabi.DeviceArray) error {
	bytes := e.bytes + wordBytes + zeroBytes // the event, and the host's zeros
	var ok bool
	if e.tree, ok = cabi.Begin(e.owner, bytes, e.nodes); !ok {
		return faulty("", "allocate the array's structs: %w", device.ErrOutOfMemory)
	}
	start := e.tree.Take(0)
	exported := cabi.DeviceArray{DeviceID: e.location.id, DeviceType: e.location.deviceType}
	event := (*uintptr)(e.tree.Take(wordBytes))
	if e.owner.event != nil {
		*event = uintptr(e.owner.event.Handle())
		exported.SyncEvent = uintptr(unsafe.Pointer(event))
	}
	if zeros := e.tree.Take(zeroBytes); e.zero == 0 {
		e.zero = uintptr(zeros)
	}
	if e.owner.table != nil {
		e.writeTable(&exported.Array)
	} else {
		e.writeColumn(&exported.Array, e.owner.column)
	}
	e.owner.seal(exported.Array, unsafe.Slice((*byte)(start), bytes))
	*out = exported
	return nil
}

func (e *exporter) writeTable(root *cabi.Array) {
	e.tree.OwnArray(root)
	root.Length = int64(e.rows)
	root.NumBuffers, root.Buffers = 1, uintptr(e.tree.Take(wordBytes)) // no validity
	columns := e.childrenOf(root, e.columns())
	for i := range columns {
		e.writeColumn(&columns[i], e.column(i))
	}
}

// childrenOf gives a struct count children, which are contiguous.
func (e *exporter) childrenOf(parent *cabi.Array, count int) []cabi.Array {
	if count == 0 {
		return nil
	}
	table := unsafe.Slice((*uintptr)(e.tree.Take(uintptr(count)*wordBytes)), count)
	children := unsafe.Slice((*cabi.Array)(e.tree.Take(uintptr(count)*arrayBytes)), count)
	for i := range children {
		table[i] = uintptr(unsafe.Pointer(&children[i]))
	}
	parent.NumChildren, parent.Children = int64(count), uintptr(unsafe.Pointer(&table[0]))
	return children
}

// writeColumn describes a column. Its offset becomes the array's, so that every
// buffer is exported from its beginning.
func (e *exporter) writeColumn(a *cabi.Array, c *column.Column) {
	l, _ := layoutOf(c.Type()) // the layout was checked by measure
	data := c.Data()
	e.tree.OwnArray(a)
	rows, _ := c.HostRows() // the count was fetched by measure
	a.Length, a.Offset, a.NullCount = int64(rows), int64(data.Offset), int64(data.NullCount)
	if rows == 0 {
		// Consumers check that buffers reach to the offset, and buffers may be empty.
		a.Offset = 0
	}
	switch {
	case rows == data.Length || data.NullCount == 0:
	case data.NullCount == data.Length:
		a.NullCount = a.Length
	default: // the null count of the rows is unknown
		a.NullCount = column.UnknownNullCount
	}
	switch {
	case l.Kind == layout.Null:
		a.NullCount = a.Length
	case !l.HasValidity() || data.Buffers[0].Block() == nil:
		a.NullCount = 0
	}
	e.writeBuffers(a, l, data.Buffers)
	children := e.childrenOf(a, len(data.Children))
	for i, child := range data.Children {
		e.writeColumn(&children[i], child)
	}
	if data.Dictionary != nil {
		dictionary := (*cabi.Array)(e.tree.Take(arrayBytes))
		a.Dictionary = uintptr(unsafe.Pointer(dictionary))
		e.writeColumn(dictionary, data.Dictionary)
	}
}

func (e *exporter) writeBuffers(a *cabi.Array, l layout.Layout, buffers []column.Bytes) {
	count := len(buffers)
	if l.Kind == layout.View {
		count++
	}
	a.NumBuffers = int64(count)
	if count == 0 {
		return
	}
	addresses := unsafe.Slice((*uintptr)(e.tree.Take(uintptr(count)*wordBytes)), count)
	a.Buffers = uintptr(unsafe.Pointer(&addresses[0]))
	for i, buffer := range buffers {
		if addresses[i] = uintptr(buffer.Pointer()); e.lacksOffset(l, i, buffer) {
			addresses[i] = e.zero
		}
	}
	if l.Kind == layout.View {
		// The lengths of the data buffers are host memory, like the structs.
		data := buffers[l.Buffers():]
		lengths := unsafe.Slice((*int64)(e.tree.Take(uintptr(max(len(data), 1))*wordBytes)), len(data))
		addresses[count-1] = uintptr(unsafe.Pointer(unsafe.SliceData(lengths)))
		for i, buffer := range data {
			lengths[i] = int64(buffer.Len())
		}
	}
}
