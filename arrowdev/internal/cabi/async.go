//go:build cgo && !(386 || arm || mips || mipsle)

package cabi

/*
#include <stdlib.h>

#include "async.h"
*/
import "C"

import "unsafe"

var (
	ownProducer = AsyncProducer{Request: uintptr(C.gpuframe_arrow_own_request), Cancel: uintptr(C.gpuframe_arrow_own_cancel)}
	ownTask     = AsyncTask{ExtractData: uintptr(C.gpuframe_arrow_own_extract)}
	ownHandler  = AsyncHandler{
		OnSchema: uintptr(C.gpuframe_arrow_own_on_schema), OnNextTask: uintptr(C.gpuframe_arrow_own_on_next_task),
		OnError: uintptr(C.gpuframe_arrow_own_on_error), Release: uintptr(C.gpuframe_arrow_own_handler_release),
	}
)

//export gpuframeArrowRequest
func gpuframeArrowRequest(producer C.uintptr_t, n C.int64_t) { requested(uint64(producer), int64(n)) }

//export gpuframeArrowCancel
func gpuframeArrowCancel(producer C.uintptr_t) { cancelled(uint64(producer)) }

//export gpuframeArrowExtract
func gpuframeArrowExtract(task C.uintptr_t, out unsafe.Pointer) C.int {
	return C.int(extract(uint64(task), (*DeviceArray)(out)))
}

//export gpuframeArrowOnSchema
func gpuframeArrowOnSchema(handler C.uintptr_t, schema unsafe.Pointer) C.int {
	return C.int(onSchema(uint64(handler), (*Schema)(schema)))
}

//export gpuframeArrowOnNextTask
func gpuframeArrowOnNextTask(handler C.uintptr_t, task unsafe.Pointer) C.int {
	return C.int(onNextTask(uint64(handler), (*AsyncTask)(task)))
}

//export gpuframeArrowOnError
func gpuframeArrowOnError(handler C.uintptr_t, code C.int, text unsafe.Pointer) {
	onError(uint64(handler), int(code), message((*C.char)(text)))
}

//export gpuframeArrowHandlerRelease
func gpuframeArrowHandlerRelease(handler C.uint64_t, within C.int) {
	handlerReleased(uint64(handler), within != 0)
}

// CallOnSchema calls anybody's handler.
func (h *AsyncHandler) CallOnSchema(schema *Schema) int {
	return int(C.gpuframe_arrow_on_schema(h.c(), (*C.struct_gpuframe_arrow_schema)(unsafe.Pointer(schema))))
}

// CallOnNextTask calls on_next_task of any handler. A nil task is the end.
func (h *AsyncHandler) CallOnNextTask(task *AsyncTask) int {
	return int(C.gpuframe_arrow_on_next_task(h.c(), (*C.struct_gpuframe_arrow_async_task)(unsafe.Pointer(task))))
}

// CallOnError calls anybody's handler.
func (h *AsyncHandler) CallOnError(code int, text string) {
	memory := C.CString(text)
	defer C.free(unsafe.Pointer(memory))
	C.gpuframe_arrow_on_error(h.c(), C.int(code), memory)
}

// CallRelease calls release of any handler. It must be the last call: the handler's
// memory may be freed afterwards.
func (h *AsyncHandler) CallRelease() { C.gpuframe_arrow_handler_release(h.c()) }

func (h *AsyncHandler) c() *C.struct_gpuframe_arrow_async_handler {
	return (*C.struct_gpuframe_arrow_async_handler)(unsafe.Pointer(h))
}

// CallRequest calls request of any producer, for the handler with that private_data.
func (p *AsyncProducer) CallRequest(n int64, handler uintptr) {
	C.gpuframe_arrow_request(p.c(), C.int64_t(n), C.uint64_t(handler))
}

// CallCancel calls cancel of any producer, for the handler with that private_data.
func (p *AsyncProducer) CallCancel(handler uintptr) {
	C.gpuframe_arrow_cancel(p.c(), C.uint64_t(handler))
}

func (p *AsyncProducer) c() *C.struct_gpuframe_arrow_async_producer {
	return (*C.struct_gpuframe_arrow_async_producer)(unsafe.Pointer(p))
}

// CallExtract calls extract_data of any task. With nil it drops the data.
func (t *AsyncTask) CallExtract(out *DeviceArray) int {
	return int(C.gpuframe_arrow_extract((*C.struct_gpuframe_arrow_async_task)(unsafe.Pointer(t)),
		(*C.struct_gpuframe_arrow_device_array)(unsafe.Pointer(out))))
}
