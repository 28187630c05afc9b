package arrowdev

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ImportOptions configure an import. The zero value is right for most programs.
type ImportOptions struct {
	// Stream is the stream that the memory belongs to. The import makes it wait, on
	// the device, for the array's sync_event. Nil means the manager's stream. CUDA's
	// per-thread default stream (2) differs from thread to thread, so the import uses
	// the legacy default stream instead, which waits for all of them.
	Stream *device.Stream

	// Unchecked skips the checks of offsets, views, run ends, type ids and dictionary
	// indices, so that the import does not wait for the device. Use it for trusted
	// producers. The structs and the pointers are still checked. An import still
	// waits for the lengths of the data buffers of string views if the producer keeps
	// these on the device.
	Unchecked bool

	// Context ends the waits of the import. Nil means no deadline.
	Context context.Context
}

func (o ImportOptions) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Import takes over an ArrowDeviceArray of struct type, with its ArrowSchema, and
// makes a table of its children without a copy. The manager must be one for the
// array's device. The memory counts against no budget; the manager's statistics show
// it as external. The caller releases the table.
//
// # Ownership
//
// Import consumes both structs in every case: they are marked as released when it
// returns. The array's release callback runs once, on any goroutine: after a success
// when everything that retains the memory is released and the work on it is done,
// after an error before Import returns. In both cases it runs later, and no call waits
// for it, if the producer's work on the array is not done, for example because nothing
// of the array was read: at the latest before the manager or the device is closed. Only a
// nil pointer, and a build without cgo, leave nothing to release.
//
// # Order
//
// The producer's work is that before the array's sync_event. Without one it is all work on
// the default streams of the device and on streams that are not non-blocking: the first
// use of the memory is ordered after it. A producer that copies on a non-blocking stream
// must set sync_event, or wait for its copies before it hands the array over.
//
// If an array that gpuframe exported comes back unaltered, Import returns the
// exported columns themselves and releases the array immediately. Other structs over
// gpuframe's memory share its blocks.
//
// # Checks
//
// The structs are checked against the schema. On a GPU the driver is queried for
// every buffer before the buffer is read: it must be memory of the claimed kind, on
// the claimed device, and of the claimed length. References within the memory, such
// as the offsets of strings, are checked on the device. UTF-8 is not checked.
//
// By the standard, the structs, the tables of addresses in them, and all memory of a
// CPU array are memory of the process. No driver can check these addresses, so Import
// checks only that they are aligned and not NULL. The lengths of the data buffers of
// string views may be in host or device memory, because producers differ.
//
// An array that needs no memory, such as one of nulls or without elements, may claim
// any device. The offset of the struct array itself is applied. Nulls in the struct
// array are refused, because a table has no null rows: import such an array with
// [ImportColumn].
//
// # Waiting
//
// Import waits for the producer's work only if the array has types whose references
// are checked.
//
// # Errors
//
// The error is an [*Error] that names the field at fault. It wraps [ErrInvalid],
// [ErrUnsupported], [ErrDevice] or [ErrMoved], or the driver's error about memory
// that does not match the array's claims.
func Import(m *memory.Manager, deviceArray, schema unsafe.Pointer, options ...ImportOptions) (*buffer.Buffer, error) {
	described, err := ImportSchema(schema)
	var table *buffer.Buffer
	err = taken(m, deviceArray, options, err, func(in *cabi.DeviceArray, o ImportOptions) error {
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
	err = taken(m, deviceArray, options, err, func(in *cabi.DeviceArray, o ImportOptions) error {
		c, err = importColumn(m, in, field.Type, o)
		return err
	})
	if err != nil {
		return nil, arrow.Field{}, during("import column", err)
	}
	return c, field, nil
}

// taken calls f with the imported array, or releases the array if err is set or the
// options are invalid.
func taken(m *memory.Manager, array unsafe.Pointer, options []ImportOptions, err error, f func(in *cabi.DeviceArray, o ImportOptions) error) error {
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
		array, _ := leaseOf(m, in)
		return also(err, array.drop())
	}
	return f(in, o)
}

// importTable takes over the array at in and makes a table of it.
func importTable(m *memory.Manager, in *cabi.DeviceArray, schema *arrow.Schema, o ImportOptions) (*buffer.Buffer, error) {
	i := newImporter(m, in, o)
	table, err := i.table(schema)
	if err = also(err, i.finish()); err != nil {
		return nil, also(err, table.Release())
	}
	return table, nil
}

// importColumn takes over the array at in and makes a column of it.
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
	manager  *memory.Manager
	options  ImportOptions
	lease    *lease
	location location
	event    uintptr
	// eventFault is why the event could not be read, or nil.
	eventFault error
	kind       device.MemoryKind
	// elsewhere is the reason why the manager cannot use the array's memory, or nil.
	// An array that needs no memory may be on any device.
	elsewhere error
	stream    *device.Stream
	// waiting reports whether the stream waits for the producer.
	waiting bool
	// regions are the buffers of all the columns.
	regions []column.Bytes
	adopted
	scratch *scratch
}

func newImporter(m *memory.Manager, in *cabi.DeviceArray, o ImportOptions) *importer {
	i := &importer{manager: m, options: o, location: location{in.DeviceType, in.DeviceID}, event: in.SyncEvent}
	i.lease, i.eventFault = leaseOf(m, in)
	i.parser.root = "ArrowDeviceArray.array"
	i.borrow()
	return i
}

// finish releases the references of the import. The table or column holds its own.
func (i *importer) finish() error {
	err := i.adopted.release()
	i.giveBack()
	return also(err, i.lease.drop())
}

// begin makes the checks that concern the whole array.
func (i *importer) begin() error {
	if i.manager == nil {
		return faulty("manager", "nil, expected a manager of the array's device: %w", device.ErrInvalidValue)
	}
	if !i.lease.live() {
		return faulty(i.parser.root+".release", "%w", ErrMoved)
	}
	if i.stream = i.options.Stream; i.stream == nil {
		i.stream = i.manager.Stream()
	}
	dev := i.manager.Device()
	if !i.stream.Device().Same(dev) {
		return faulty("options.Stream", "a stream of %s, expected one of %s: %w", i.stream.Device(), dev, device.ErrInvalidValue)
	}
	if isPerThread(i.stream) {
		// The legacy default stream is ordered with the default streams of all
		// threads.
		i.stream = dev.DefaultStream()
	}
	i.kind, i.elsewhere = kindOf(dev, i.location)
	return nil
}

// await makes the stream wait, on the device, for the producer's work.
func (i *importer) await() error {
	const field = "ArrowDeviceArray.sync_event"
	if i.event == 0 || !i.location.hasEvents() {
		return nil
	}
	dev := i.manager.Device()
	if dev.Kind() == device.Host {
		return faulty(field, "%s cannot wait for a CUDA event: import the array on the GPU, or wait for the event first: %w", dev, ErrDevice)
	}
	if i.eventFault != nil {
		return i.eventFault
	}
	if err := i.stream.Wait(i.lease.event); err != nil {
		return faulty(field, "%w", err)
	}
	i.waiting = true
	return nil
}

// secure makes regions of all the memory that the parsed nodes refer to.
func (i *importer) secure(root *node) error {
	switch {
	case !root.claimsMemory():
		return nil // no memory, so no wait
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
	more, err := i.checkContents(root)
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
		return nil, faulty("schema", "nil, expected the schema of the array: %w", ErrInvalid)
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
