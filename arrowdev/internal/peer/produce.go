//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer

/*
#cgo CFLAGS: -std=gnu11 -Wall
#cgo LDFLAGS: -lpthread
#include <stdlib.h>
#include "peer.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Nulls selects how many elements are null.
type Nulls int

// The choices of Nulls.
const (
	SomeNulls Nulls = C.PEER_SOME_NULLS
	NoNulls   Nulls = C.PEER_NO_NULLS
	AllNulls  Nulls = C.PEER_ALL_NULLS
)

// Quirk is a set of deviations of known producers from the standard, or rare choices
// within it.
type Quirk uint32

// The quirks.
const (
	ReservedSet  Quirk = C.PEER_RESERVED_SET  // reserved is not zero
	NamesNull    Quirk = C.PEER_NAMES_NULL    // names are NULL
	EmptyIsNull  Quirk = C.PEER_EMPTY_IS_NULL // buffers of no bytes are NULL
	NoOffsets    Quirk = C.PEER_NO_OFFSETS    // empty arrays lack their one offset
	UnknownNulls Quirk = C.PEER_UNKNOWN_NULLS // null_count is -1
	Validity     Quirk = C.PEER_VALIDITY      // a validity bitmap even if all are valid
	Garbage      Quirk = C.PEER_GARBAGE       // garbage where contents are undefined
	Odd          Quirk = C.PEER_ODD           // buffers aligned to their elements only
	Padded       Quirk = C.PEER_PADDED        // buffers padded to 64 bytes
	CPUZero      Quirk = C.PEER_CPU_ZERO      // device_id 0 instead of -1
	Metadata     Quirk = C.PEER_METADATA      // metadata on every schema
)

// Options of an array. The zero value is an empty array of CPU memory.
type Options struct {
	Seed uint64
	// Length is the array's; Ahead and Behind are the rows before and after it in its
	// buffers: Ahead is its offset. ChildrenAhead and ChildrenBehind are the maxima for
	// children.
	Length, Ahead, Behind, ChildrenAhead, ChildrenBehind int
	Nulls                                                Nulls
	Quirks                                               Quirk
	// DeviceType is Arrow's number of the device. For 0, the CPU, DeviceID is ignored
	// and written as -1.
	DeviceType int32
	DeviceID   int64
	// SyncEvent points to an event in C memory.
	SyncEvent unsafe.Pointer
}

func (o Options) device() (kind int32, id int64) {
	if o.DeviceType == 0 || o.DeviceType == C.ARROW_DEVICE_CPU {
		return C.ARROW_DEVICE_CPU, -1
	}
	return o.DeviceType, o.DeviceID
}

// Made is an array and its schema in C memory, as a producer exports them.
type Made struct {
	// Type is the argument of Produce, Text the contents of the array, a line per row.
	Type, Text string
	// Quirks are those of the options.
	Quirks Quirk

	device *C.struct_ArrowDeviceArray
	schema *C.struct_ArrowSchema
}

// Produce makes an array. The caller frees it.
func Produce(kind string, options Options) (*Made, error) {
	m := &Made{
		Type: kind, Quirks: options.Quirks,
		device: (*C.struct_ArrowDeviceArray)(C.calloc(1, C.sizeof_struct_ArrowDeviceArray)),
		schema: (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema)),
	}
	var values C.struct_peer_text
	defer C.peer_text_free(&values)
	text := C.CString(kind)
	defer C.free(unsafe.Pointer(text))
	o := C.struct_peer_options{
		seed: C.uint64_t(options.Seed), length: C.int64_t(options.Length),
		ahead: C.int64_t(options.Ahead), behind: C.int64_t(options.Behind),
		children_ahead: C.int64_t(options.ChildrenAhead), children_behind: C.int64_t(options.ChildrenBehind),
		nulls: C.int(options.Nulls), quirks: C.uint(options.Quirks), sync_event: options.SyncEvent,
	}
	deviceType, deviceID := options.device()
	o.device_type, o.device_id = C.int32_t(deviceType), C.int64_t(deviceID)
	if C.peer_produce(text, &o, m.schema, m.device, &values) != 0 {
		m.Free()
		return nil, fmt.Errorf("peer: type %q is not understood", kind)
	}
	m.Text = goText(values)
	return m, nil
}

// Device returns the ArrowDeviceArray, which begins with the ArrowArray.
func (m *Made) Device() unsafe.Pointer { return unsafe.Pointer(m.device) }

// Schema returns the ArrowSchema.
func (m *Made) Schema() unsafe.Pointer { return unsafe.Pointer(m.schema) }

// Buffer is a buffer of a tree of arrays.
type Buffer struct {
	place *unsafe.Pointer
	// Bytes are its contents, in C memory that lives until the array's release.
	Bytes []byte
	// OnHost marks the lengths of data buffers of views, which producers keep in host
	// memory.
	OnHost bool
}

// Place sets the address of the buffer in the array.
func (b Buffer) Place(address uintptr) { *(*uintptr)(unsafe.Pointer(b.place)) = address }

// Buffers returns the non-NULL buffers of the array and of all arrays below it.
func (m *Made) Buffers() []Buffer {
	n := C.peer_slots(&m.device.array, nil, 0)
	slots := make([]C.struct_peer_slot, n+1)
	C.peer_slots(&m.device.array, &slots[0], n)
	buffers := make([]Buffer, n)
	for i, slot := range slots[:n] {
		buffers[i] = Buffer{
			place:  (*unsafe.Pointer)(unsafe.Pointer(slot.place)),
			Bytes:  unsafe.Slice((*byte)(slot.bytes), int(slot.size)),
			OnHost: slot.on_host != 0,
		}
	}
	return buffers
}

// Free releases the structs that were not taken and frees them.
func (m *Made) Free() {
	if m.device == nil {
		return
	}
	C.peer_release_array(&m.device.array)
	C.peer_release_schema(m.schema)
	C.free(unsafe.Pointer(m.device))
	C.free(unsafe.Pointer(m.schema))
	m.device, m.schema = nil, nil
}

// Books counts live objects, and mistakes of other libraries.
type Books struct {
	Schemas, Arrays, Streams, Producers, Tasks, Handlers int
	DoubleReleases, Mistakes                             int
}

// Counts returns the books.
func Counts() Books {
	c := C.peer_counts()
	return Books{
		int(c.schemas), int(c.arrays), int(c.streams), int(c.producers), int(c.tasks), int(c.handlers),
		int(c.double_releases), int(c.mistakes),
	}
}

// Mistakes returns the violations of other libraries in callbacks since the last call.
func Mistakes() []string {
	text := C.peer_mistakes()
	defer C.free(unsafe.Pointer(text))
	return lines(C.GoString(text))
}

// Sweep frees the records by which second releases are recognised. No object may be
// alive.
func Sweep() { C.peer_sweep() }

// Cell returns zeroed C memory, for structs that others fill.
func Cell(bytes int) unsafe.Pointer { return C.calloc(1, C.size_t(bytes)) }

// Free gives memory of Cell back.
func Free(cell unsafe.Pointer) { C.free(cell) }

// The sizes of the structs.
const (
	SchemaBytes       = C.sizeof_struct_ArrowSchema
	ArrayBytes        = C.sizeof_struct_ArrowArray
	DeviceArrayBytes  = C.sizeof_struct_ArrowDeviceArray
	StreamBytes       = C.sizeof_struct_ArrowArrayStream
	DeviceStreamBytes = C.sizeof_struct_ArrowDeviceArrayStream
	HandlerBytes      = C.sizeof_struct_ArrowAsyncDeviceStreamHandler
)

func goText(text C.struct_peer_text) string {
	if text.length == 0 {
		return ""
	}
	return strings.Clone(unsafe.String((*byte)(unsafe.Pointer(text.bytes)), int(text.length)))
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
