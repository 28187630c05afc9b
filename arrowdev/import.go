package arrowdev

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

// ImportOptions configure an import. The zero value is right for most programs.
type ImportOptions struct {
	// Stream is the stream that the memory shall belong to. It is made to wait, on
	// the device, for the array's sync_event. Nil means the manager's. For CUDA's
	// per-thread default stream (2), which is another one on each thread, the legacy
	// default stream is taken, which all of these wait for.
	Stream *device.Stream

	// Unchecked leaves offsets, views, run ends, type ids and dictionary indices in
	// the memory unread, so that the import does not wait for the device; it is for
	// producers that are trusted. The structs and what the driver knows of the
	// pointers are checked all the same. An import still waits for the lengths of the
	// data buffers of string views, if the producer keeps these on the device.
	Unchecked bool

	// Context ends the wait for those checks. Nil means no end but the work's.
	Context context.Context
}

func (o ImportOptions) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Import takes an ArrowDeviceArray of struct type over, with the ArrowSchema that
// describes it, and makes a table of its children without copying them. The
// manager is one for the array's device; the memory is in no budget, and shows in
// the manager's figures as external. The caller releases the table.
//
// Import consumes both structs in every case: they are marked as released when it
// returns. The array's release callback runs once, on whatever goroutine: on
// success when everything that retains the memory is released and the work on it
// is done, on an error before Import returns. Only a nil pointer, and a build
// without cgo, leave nothing to run.
//
// An array that needs no memory, such as one of nulls or of no elements, is taken
// wherever it says it is.
//
// # Checks
//
// The structs are checked against the schema. On a GPU the driver is asked about
// every buffer before anything reads it: whether it is memory of the claimed kind,
// on the claimed device, and as long as claimed. References within the memory, such
// as the offsets of strings, are checked on the device; only types that have them
// make Import wait for the producer's work. UTF-8 is not checked.
//
// By the standard the structs themselves, the tables of addresses in them, and
// all memory of an array that claims to be the CPU's are the processor's memory.
// Nobody can be asked about that: such an address is believed if it is aligned and
// not NULL. The lengths of the data buffers of string views may be in either
// memory, for producers differ.
//
// An offset of the struct array itself is honoured. Nulls in it are refused, for a
// table has no rows that are null: take such an array in by [ImportColumn].
//
// Memory of gpuframe's own that comes back is recognised: an unaltered array gives
// the very columns, and ends at once; other structs over memory of ours share the
// blocks.
//
// The error is an [*Error] that names the field at fault. It wraps [ErrInvalid],
// [ErrUnsupported], [ErrDevice] or [ErrMoved], or what the driver says of memory
// that is not what the array claims.
func Import(m *memory.Manager, deviceArray, schema unsafe.Pointer, options ...ImportOptions) (*buffer.Buffer, error) {
	described, err := ImportSchema(schema)
	var table *buffer.Buffer
	err = taken(deviceArray, options, err, func(in *cabi.DeviceArray, o ImportOptions) error {
		table, err = importTable(m, in, described, o)
		return err
	})
	return table, during("import", err)
}

// ImportColumn is [Import] for an array of any type, which becomes one column. The
// field has the schema's name, nullability and metadata. The caller releases the
// column.
func ImportColumn(m *memory.Manager, deviceArray, schema unsafe.Pointer, options ...ImportOptions) (*column.Column, arrow.Field, error) {
	field, err := ImportField(schema)
	var c *column.Column
	err = taken(deviceArray, options, err, func(in *cabi.DeviceArray, o ImportOptions) error {
		c, err = importColumn(m, in, field.Type, o)
		return err
	})
	if err != nil {
		return nil, arrow.Field{}, during("import column", err)
	}
	return c, field, nil
}

// taken calls f with an array that came in, or releases it where something is
// wrong already.
func taken(array unsafe.Pointer, options []ImportOptions, err error, f func(in *cabi.DeviceArray, o ImportOptions) error) error {
	if !cabi.Available {
		return notInThisBuild()
	}
	o, wrong := only(options)
	if err == nil {
		err = wrong
	}
	if array == nil {
		if err == nil {
			err = faulty("ArrowDeviceArray", "the pointer is nil: %w", ErrInvalid)
		}
		return err
	}
	in := (*cabi.DeviceArray)(array)
	if err != nil {
		return also(err, newLease(in.Array, &in.Array).drop())
	}
	return f(in, o)
}

// importTable takes an array over from in and makes a table of it.
func importTable(m *memory.Manager, in *cabi.DeviceArray, schema *arrow.Schema, o ImportOptions) (*buffer.Buffer, error) {
	i := newImporter(m, in, o)
	table, err := i.table(schema)
	if err = also(err, i.finish()); err != nil {
		return nil, also(err, table.Release())
	}
	return table, nil
}

// importColumn takes an array over from in and makes a column of it.
func importColumn(m *memory.Manager, in *cabi.DeviceArray, t arrow.DataType, o ImportOptions) (*column.Column, error) {
	i := newImporter(m, in, o)
	c, err := i.column(t)
	if err = also(err, i.finish()); err != nil {
		return nil, also(err, c.Release())
	}
	return c, nil
}

// importer makes a table or a column of one array.
type importer struct {
	parser
	manager *memory.Manager
	options ImportOptions
	lease   *lease
	place   place
	event   uintptr
	kind    device.MemoryKind
	// elsewhere is why memory of the array is of no use to the manager, or nil. An
	// array that needs no memory may be anywhere.
	elsewhere error
	stream    *device.Stream
	// waiting says that the stream was made to wait for the producer.
	waiting bool
	// regions are the buffers of all the columns.
	regions []column.Bytes
	adopted
	scratch *scratch
}

func newImporter(m *memory.Manager, in *cabi.DeviceArray, o ImportOptions) *importer {
	i := &importer{manager: m, options: o, place: place{in.DeviceType, in.DeviceID}, event: in.SyncEvent}
	i.lease = newLease(in.Array, &in.Array)
	i.parser.root = "ArrowDeviceArray.array"
	i.borrow()
	return i
}

// finish gives back what the import itself holds. What became of it has references
// of its own.
func (i *importer) finish() error {
	err := i.adopted.release()
	i.giveBack()
	return also(err, i.lease.drop())
}

// begin checks what can be told of the whole.
func (i *importer) begin() error {
	if i.manager == nil {
		return faulty("manager", "it is nil: %w", device.ErrInvalidValue)
	}
	if !i.lease.live() {
		return faulty(i.parser.root+".release", "%w", ErrMoved)
	}
	if i.stream = i.options.Stream; i.stream == nil {
		i.stream = i.manager.Stream()
	}
	dev := i.manager.Device()
	if !i.stream.Device().Same(dev) {
		return faulty("options.Stream", "it belongs to %s, the manager to %s: %w", i.stream.Device(), dev, device.ErrInvalidValue)
	}
	if isPerThread(i.stream) {
		// The legacy default stream is ordered with those of all threads.
		i.stream = dev.DefaultStream()
	}
	i.kind, i.elsewhere = kindOf(dev, i.place)
	return nil
}

// await makes the stream wait, on the device, for the producer's work.
func (i *importer) await() error {
	const field = "ArrowDeviceArray.sync_event"
	if i.event == 0 || !i.place.hasEvents() {
		return nil
	}
	dev := i.manager.Device()
	if dev.Kind() == device.Host {
		return faulty(field, "%s cannot wait for an event of CUDA: import the array on the GPU, or wait for the event first: %w", dev, ErrDevice)
	}
	if err := checkTable(i.event); err != nil {
		return faulty(field, "%w", err)
	}
	var pointed [1]int64
	if err := i.readHost(pointed[:], i.event); err != nil {
		return faulty(field, "it is a pointer to an event, in the processor's memory: %w", err)
	}
	handle := backend.Event(pointed[0])
	if handle == 0 {
		return faulty(field, "it points to no event: %w", ErrInvalid)
	}
	if err := i.stream.Wait(dev.WrapEvent(handle)); err != nil {
		return faulty(field, "%w", err)
	}
	i.waiting = true
	return nil
}

// secure makes sure of all the memory that the parsed nodes refer to.
func (i *importer) secure(root *node) error {
	switch {
	case !root.claimsMemory():
		return nil // nothing to be had, and so nothing to wait for
	case i.elsewhere != nil:
		return i.elsewhere
	}
	if err := i.await(); err != nil {
		return err
	}
	if err := i.readLengths(root); err != nil {
		return err
	}
	if err := i.adopt(root); err != nil {
		return err
	}
	more, err := i.look(root)
	if err != nil || !more {
		return err
	}
	return i.adopt(root)
}

func (i *importer) column(t arrow.DataType) (*column.Column, error) {
	if err := i.begin(); err != nil {
		return nil, err
	}
	if c, own := i.recogniseColumn(t); own {
		return c, nil
	}
	root, err := i.parse(&i.lease.array, t)
	if err != nil {
		return nil, err
	}
	if err := i.secure(root); err != nil {
		return nil, err
	}
	return i.assemble(root)
}

func (i *importer) table(schema *arrow.Schema) (*buffer.Buffer, error) {
	if err := i.begin(); err != nil {
		return nil, err
	}
	if schema == nil {
		return nil, faulty("schema", "there is none: %w", ErrInvalid)
	}
	if table, own := i.recogniseTable(schema); own {
		return table, nil
	}
	root, err := i.parseTable(&i.lease.array, schema)
	if err != nil {
		return nil, err
	}
	if err := root.noNulls(); err != nil {
		return nil, err
	}
	root.cut()
	if err := i.secure(root); err != nil {
		return nil, err
	}
	if err := i.countNulls(root); err != nil {
		return nil, err
	}
	return i.assembleTable(root, schema)
}
