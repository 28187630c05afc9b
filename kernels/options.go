package kernels

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Options configure an operator of the packages below kernels. The zero value suits most
// programs.
type Options struct {
	// Stream is the stream of the operator's work and of its results' memory. It waits,
	// on the device, for other streams' work on the inputs. Nil means the stream of the
	// first input's memory.
	Stream *device.Stream
	// Manager allocates the results and the scratch memory. Nil means the manager of the
	// first input's memory.
	Manager *memory.Manager
	// Tag names the memory of the results in the manager's statistics.
	Tag string
	// Estimate, if it is not nil, receives what the operator allocates. The operator
	// then computes nothing, waits for nothing and returns [ErrEstimated]:
	// [EstimateOf] is the convenient form.
	Estimate *Estimate
}
