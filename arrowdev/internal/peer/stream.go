//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer

/*
#include <stdlib.h>
#include "peer.h"

struct draining {
  void *stream;
  const struct peer_drain *options;
  const struct peer_view *view;
  struct peer_drained *out;
  int plain;
};
static void drain(void *argument) {
  struct draining *d = argument;
  if (d->plain)
    peer_drain_plain(d->stream, d->options, d->view, d->out);
  else
    peer_drain(d->stream, d->options, d->view, d->out);
}
static int drain_on_thread(void *stream, const struct peer_drain *options, const struct peer_view *view,
                           struct peer_drained *out, int plain) {
  struct draining d = {stream, options, view, out, plain};
  return peer_on_thread(drain, &d);
}
*/
import "C"

import "unsafe"

// Source is the contents of a stream.
type Source struct {
	// Type is the type of all batches, Quirks those of its schema.
	Type   string
	Quirks Quirk
	// DeviceType is the stream's, 0 the CPU.
	DeviceType int32
	// Batches are moved into the stream. The caller must still free them.
	Batches []*Made
	// After FailAfter batches the stream fails with Code and Message; Code 0 means no
	// failure. SchemaCode makes the schema fail.
	FailAfter, Code, SchemaCode int
	Message                     string
}

// c makes the C struct, which lives until done is called.
func (s Source) c() (source *C.struct_peer_source, done func()) {
	source = (*C.struct_peer_source)(C.calloc(1, C.sizeof_struct_peer_source))
	source._type = C.CString(s.Type)
	source.quirks = C.uint(s.Quirks)
	kind, _ := Options{DeviceType: s.DeviceType}.device()
	source.device_type = C.int32_t(kind)
	source.count, source.fail_after = C.int64_t(len(s.Batches)), -1
	source.code, source.schema_code = C.int(s.Code), C.int(s.SchemaCode)
	if s.Code != 0 {
		source.fail_after = C.int64_t(s.FailAfter)
	}
	if s.Message != "" {
		source.message = C.CString(s.Message)
	}
	source.batches = (*C.struct_ArrowDeviceArray)(C.calloc(C.size_t(len(s.Batches)+1), C.sizeof_struct_ArrowDeviceArray))
	moved := unsafe.Slice(source.batches, len(s.Batches))
	for i, batch := range s.Batches {
		moved[i] = *batch.device
		batch.device.array.release = nil
	}
	return source, func() {
		C.free(unsafe.Pointer(source._type))
		C.free(unsafe.Pointer(source.message))
		C.free(unsafe.Pointer(source.batches))
		C.free(unsafe.Pointer(source))
	}
}

// Stream fills an ArrowDeviceArrayStream.
func Stream(source Source, out unsafe.Pointer) {
	c, done := source.c()
	defer done()
	C.peer_stream(c, (*C.struct_ArrowDeviceArrayStream)(out))
}

// StreamPlain fills an ArrowArrayStream.
func StreamPlain(source Source, out unsafe.Pointer) {
	c, done := source.c()
	defer done()
	C.peer_stream_plain(c, (*C.struct_ArrowArrayStream)(out))
}

// ReleaseStream releases an ArrowDeviceArrayStream that was not taken.
func ReleaseStream(stream unsafe.Pointer) {
	if s := (*C.struct_ArrowDeviceArrayStream)(stream); s.release != nil {
		C.peer_release_stream(s)
	}
}

// DrainOptions configure how a consumer reads a stream. The zero value reads it to the
// end and releases it.
type DrainOptions struct {
	// Most is the maximum number of batches if it is above zero; Batchless reads none.
	Most      int
	Batchless bool
	// Further is the number of further calls after the end; Schemas that of calls of
	// get_schema, at least one.
	Further, Schemas int
	// Keep reads batches only after the stream was released.
	Keep bool
}

// Drained is the result of a consumer of a stream. Values have "batch" before those of
// each batch.
type Drained struct {
	Seen
	Batches, Code int
	Message       string
	Ended         bool
}

// Drain consumes an ArrowDeviceArrayStream on a separate thread.
func Drain(stream unsafe.Pointer, options DrainOptions, view View) Drained {
	return drain(stream, options, view, 0)
}

// DrainPlain consumes an ArrowArrayStream on a separate thread.
func DrainPlain(stream unsafe.Pointer, options DrainOptions, view View) Drained {
	return drain(stream, options, view, 1)
}

func drain(stream unsafe.Pointer, options DrainOptions, view View, plain C.int) Drained {
	v, done := view.c()
	defer done()
	o := C.struct_peer_drain{
		most: C.int64_t(options.Most), further: C.int64_t(options.Further),
		schemas: C.int(options.Schemas), keep: C.bool(options.Keep),
	}
	if options.Most == 0 && !options.Batchless {
		o.most = -1
	}
	var out C.struct_peer_drained
	defer C.peer_drained_free(&out)
	started(C.drain_on_thread(stream, &o, &v, &out, plain))
	return Drained{seenOf(&out.seen), int(out.batches), int(out.code), C.GoString(out.message), bool(out.ended)}
}
