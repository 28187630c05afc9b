//go:build !cgo || 386 || arm || mips || mipsle

package cabi

var (
	ownProducer AsyncProducer
	ownTask     AsyncTask
	ownHandler  AsyncHandler

	_ = []any{requested, cancelled, extract, onSchema, onNextTask, onError, handlerReleased} // C calls them
)

// CallOnSchema cannot call C in this build.
func (h *AsyncHandler) CallOnSchema(*Schema) int { return EINVAL }

// CallOnNextTask cannot call C in this build.
func (h *AsyncHandler) CallOnNextTask(*AsyncTask) int { return EINVAL }

// CallOnError cannot call C in this build.
func (h *AsyncHandler) CallOnError(int, string) {}

// CallRelease cannot call C in this build.
func (h *AsyncHandler) CallRelease() {}

// CallRequest cannot call C in this build.
func (p *AsyncProducer) CallRequest(int64, uintptr) {}

// CallCancel cannot call C in this build.
func (p *AsyncProducer) CallCancel(uintptr) {}

// CallExtract cannot call C in this build.
func (t *AsyncTask) CallExtract(*DeviceArray) int { return EINVAL }
