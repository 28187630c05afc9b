// Package memory allocates device memory within a budget and accounts for its use by
// manager and tag.
//
//	dev, err := device.Open("")
//	mgr, err := memory.NewManager(dev, memory.Options{Budget: 8 << 30})
//	defer mgr.Close()
//
//	prices, err := memory.NewSlice[float64](mgr, 1_000_000, memory.AllocateOptions{Tag: "prices"})
//	defer prices.Release()
//	err = prices.Upload(ctx, nil, values)
//	fmt.Println(mgr.Stats()) // in use 8.0 MB of 8.6 GB (0.1 %), peak 8.0 MB, …
//
// # Nouns
//
// A [Block] is a reference-counted region of memory. A [Slice] is a typed view of a
// Block. A [Manager] makes Blocks: it reserves their bytes in its budget, gets the
// memory from a [Resource], and keeps statistics. [Manager.Adopt] makes a Block of
// memory that another library owns; it is counted separately from the budget.
//
// # Ownership
//
// A value returned by a function named New, Allocate or Adopt holds one reference,
// which the caller releases. Views ([Slice.Slice], [Slice.AsBytes], [Reinterpret],
// [View]) hold no reference and are valid as long as the value that they were made
// from. Releasing a view is an error that wraps [ErrView]; [Slice.Own] makes a slice
// with a reference. Using a Block after its last release is an error that wraps
// [ErrReleased]. If a Block is collected without having been released, a backstop frees
// it and reports a leak.
//
// # Budgets
//
// A Manager has a budget. Its children ([Manager.Child]) can have budgets too, and
// their use also counts in the parent. If a budget is zero, only the device, or the
// budgets above, limit the manager.
//
// If a request does not fit, the manager calls the registered reclaimers
// ([Manager.AddReclaimer]) to release memory, and fails if that is not enough.
// [Manager.AllocateWait] waits for memory to be released; [Manager.AllocateContext]
// waits only behind requests that already wait. [Manager.Reserve] sets memory aside for
// a job.
//
// Memory comes from a [Resource]: by default a [CachingResource], which keeps freed
// memory for reuse. A [SharedResource] has memory that other processes can open.
// Package memory/resource has the interface and the driver's resources, memory/caching
// the default resource, memory/buckets one with size classes, and memory/adaptor
// resources that wrap others to limit, count, log, check or fail.
//
// # Order
//
// Memory belongs to the stream that it was allocated on. A nil stream argument means
// that stream. Functions that may block take a context.
//
// gpuframe orders each operation on a Block after the pending work on it, on any
// stream, and records the operation as work. If no other stream has pending work, that
// takes no driver call. [Slice.Unordered] opts out. A caller that enqueues work through
// a stream's handle calls [Block.OrderBefore] before it and [Block.RecordUse] after it.
// Memory is not reused before all recorded work has completed.
//
// # Streams of other libraries
//
// The owner of a stream wrapped by [device.Device.WrapStream] may destroy it at any
// time except during a call that takes it as an argument. Blocks record the known work
// on it, not its handle, so memory that it has used, or that was allocated on it, stays
// usable and is freed in order after the stream is gone. [Block.RecordForeignUse] is
// for consumers that used the memory on queues unknown to gpuframe.
//
// All types are safe for concurrent use.
package memory
