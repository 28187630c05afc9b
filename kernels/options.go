package kernels

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Options say how an operator of the packages below kernels runs. The zero value
// is right for most programs.
type Options struct {
	// Stream is the stream that the operator's work is enqueued on and that the
	// memory of its results belongs to. It is made to wait, on the device, for what
	// other streams have to do with the inputs. Nil means the stream that the first
	// input's memory belongs to.
	Stream *device.Stream
	// Manager allocates the results and what is needed on the way. Nil means the
	// one that the first input's memory is of.
	Manager *memory.Manager
	// Tag names the memory of the results in the manager's figures.
	Tag string
	// Estimate, if it is not nil, receives what the operator allocates. The operator
	// then computes nothing, waits for nothing and returns [ErrEstimated]:
	// [EstimateOf] is the convenient form.
	Estimate *Estimate
}
