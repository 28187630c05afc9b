//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer

/*
#include "peer.h"

static void look(void *argument) {
  void **a = argument;
  peer_look(a[0], a[1], a[2], a[3]);
}
static void look_plain(void *argument) {
  void **a = argument;
  peer_look_plain(a[0], a[1], a[2], a[3]);
}
static int look_on_thread(void *array, void *schema, const struct peer_view *view, struct peer_seen *seen, int plain) {
  const void *a[] = {array, schema, view, seen};
  return peer_on_thread(plain ? look_plain : look, a);
}
static void release_array(void *array) { peer_release_array(array); }
static void release_schema(void *schema) { peer_release_schema(schema); }
static int array_on_thread(void *array) { return peer_on_thread(release_array, array); }
static int schema_on_thread(void *schema) { return peer_on_thread(release_schema, schema); }

struct dismantling {
  void *array, *schema;
  enum peer_order order;
  uint64_t seed;
  const struct peer_view *view;
  struct peer_seen *seen;
};
static void dismantle(void *argument) {
  struct dismantling *d = argument;
  peer_dismantle(d->array, d->schema, d->order, d->seed, d->view, d->seen);
}
static int dismantle_on_thread(void *array, void *schema, enum peer_order order, uint64_t seed,
                               const struct peer_view *view, struct peer_seen *seen) {
  struct dismantling d = {array, schema, order, seed, view, seen};
  return peer_on_thread(dismantle, &d);
}
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"syscall"
	"unsafe"
)

// View configures how the consumer reads. The zero value reads CPU memory.
type View struct {
	// DeviceType and DeviceID are the expected values of the array; type 0 is the CPU.
	DeviceType int32
	DeviceID   int64
	// Read copies memory that C cannot reach.
	Read func(from uintptr, to []byte) error
	// Padding reads buffers to the next multiple of 64 bytes.
	Padding bool
}

func (v View) c() (view C.struct_peer_view, done func()) {
	kind, id := Options{DeviceType: v.DeviceType, DeviceID: v.DeviceID}.device()
	view.device_type, view.device_id, view.padding = C.int32_t(kind), C.int64_t(id), C.bool(v.Padding)
	if v.Read == nil {
		return view, func() {}
	}
	handle := cgo.NewHandle(v.Read)
	view.reader = C.uintptr_t(handle)
	return view, handle.Delete
}

// Seen is the result of a consumer.
type Seen struct {
	// Values has a line per row, Type one line.
	Values, Type string
	// Problems are violations of the standard, Advice deviations from its
	// recommendations.
	Problems, Advice []string
}

func seenOf(seen *C.struct_peer_seen) Seen {
	return Seen{goText(seen.values), goText(seen._type), lines(goText(seen.problems)), lines(goText(seen.advice))}
}

// Look reads an ArrowDeviceArray on a separate thread.
func Look(deviceArray, schema unsafe.Pointer, view View) Seen {
	return look(deviceArray, schema, view, 0)
}

// LookPlain reads an ArrowArray, or only the schema if the array is nil.
func LookPlain(array, schema unsafe.Pointer, view View) Seen { return look(array, schema, view, 1) }

func look(array, schema unsafe.Pointer, view View, plain C.int) Seen {
	v, done := view.c()
	defer done()
	var seen C.struct_peer_seen
	defer C.peer_seen_free(&seen)
	started(C.look_on_thread(array, schema, &v, &seen, plain))
	return seenOf(&seen)
}

// ReleaseArray releases an ArrowArray, or the one at the beginning of an
// ArrowDeviceArray, from C.
func ReleaseArray(array unsafe.Pointer) { C.peer_release_array((*C.struct_ArrowArray)(array)) }

// ReleaseSchema releases an ArrowSchema from C.
func ReleaseSchema(schema unsafe.Pointer) { C.peer_release_schema((*C.struct_ArrowSchema)(schema)) }

// ReleaseArrayOnThread is ReleaseArray on a thread that Go did not create.
func ReleaseArrayOnThread(array unsafe.Pointer) { started(C.array_on_thread(array)) }

// ReleaseSchemaOnThread is ReleaseSchema on a thread that Go did not create.
func ReleaseSchemaOnThread(schema unsafe.Pointer) { started(C.schema_on_thread(schema)) }

// Released reports whether an array's release callback is NULL.
func Released(array unsafe.Pointer) bool { return (*C.struct_ArrowArray)(array).release == nil }

// SchemaReleased reports whether a schema's release callback is NULL.
func SchemaReleased(schema unsafe.Pointer) bool {
	return (*C.struct_ArrowSchema)(schema).release == nil
}

// SyncEvent returns the sync_event of an ArrowDeviceArray.
func SyncEvent(deviceArray unsafe.Pointer) unsafe.Pointer {
	return (*C.struct_ArrowDeviceArray)(deviceArray).sync_event
}

// Order selects when Dismantle releases the base.
type Order int

// The orders.
const (
	BaseFirst Order = C.PEER_BASE_FIRST
	BaseLast  Order = C.PEER_BASE_LAST
)

// Dismantle moves random children out of a struct array, releases the base, and reads
// the children, on a separate thread. Values have "child k" before the values of each.
// The array is moved too and stays released.
func Dismantle(array, schema unsafe.Pointer, order Order, seed uint64, view View) Seen {
	v, done := view.c()
	defer done()
	var seen C.struct_peer_seen
	defer C.peer_seen_free(&seen)
	started(C.dismantle_on_thread(array, schema, uint32(order), C.uint64_t(seed), &v, &seen))
	return seenOf(&seen)
}

func started(failed C.int) {
	if failed != 0 {
		panic(fmt.Sprintf("peer: start or join a thread: %v", syscall.Errno(failed)))
	}
}
