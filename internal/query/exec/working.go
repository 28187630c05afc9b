package exec

import (
	"context"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/driver/nvtx"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Working knows the node that a running query works on. The zero value is ready for use.
type Working struct{ node atomic.Pointer[plan.Node] }

// Node returns the innermost node that makes a table now, or nil.
func (w *Working) Node() plan.Node {
	if n := w.node.Load(); n != nil {
		return *n
	}
	return nil
}

// working is a reader that reports its node to a Working, and to a profiler.
type working struct {
	buffer.Reader
	node plan.Node
	to   *Working
}

// Next implements buffer.Reader.
func (w *working) Next(ctx context.Context) (*buffer.Buffer, error) {
	outer := w.to.node.Swap(&w.node)
	defer w.to.node.Store(outer)
	defer nvtx.Start(w.node.String).End()
	return w.Reader.Next(ctx)
}
