// Package op is the framework of the operators on columns. An operator of one column
// that keeps the rows has this form:
//
//	call, err := op.Begin(ctx, options, c)    // stream, manager, order behind other work
//	in, err := call.View(c)                   // values, bitmap and row count for kernels
//	result := op.Like(in)                     // the type, rows and nulls of the result
//	if call.Estimating() {                    // compute only the sizes
//		sizes := result.Sizes()
//		return nil, call.Estimate(sizes[:], []uint64{stateBytes})
//	}
//	return call.NewColumn(result, func(out op.Buffers) error {
//		f, err := call.Kernel(&set, file, entry)      // compiled once for each device
//		block, scratch, err := call.Scratch(stateBytes) // memory for this call only
//		...
//	})
//
// On the host [View.Host] and [Buffers.Host] give the memory to plain loops. Package
// kernels/window is the model of a family; docs/adding-an-operator.md walks through it.
package op
