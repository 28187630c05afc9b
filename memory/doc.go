// Package memory hands out device memory under a budget and knows, at every
// moment, how much of it is in use and by whom.
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
// A [Block] is a region of memory and who owns it. A [Slice] is a typed view of
// a Block. A [Manager] makes Blocks: it reserves their bytes in its budget, asks
// a [Resource] for the memory, and keeps the figures. Memory that another
// library owns becomes a Block through [Manager.Adopt]; it is counted apart from
// the budget.
//
// # Ownership
//
// Whatever a function named New, Allocate or Adopt returns holds one reference,
// and its caller releases it. Views ([Slice.Slice], [Slice.AsBytes], [Reinterpret],
// [View]) hold none: like a Go slice of a Go slice they are good for as long as what
// they were made from. Releasing one is an error that wraps [ErrView]; [Slice.Own]
// keeps one longer. Using a Block after its last release is an error that wraps [ErrReleased]. A Block that is collected
// without having been released is freed by a backstop and reported as a leak.
//
// # Budgets
//
// A Manager has a budget, and can have children with budgets of their own
// ([Manager.Child]) whose figures add up to its own. A budget of zero is no budget
// of its own: the device, or the budgets above, limit the manager.
//
// If a request does not fit, those who registered to give memory back are asked
// ([Manager.AddReclaimer]), and then it fails. [Manager.AllocateWait] waits for
// memory to be released; [Manager.AllocateContext] only waits behind requests that
// wait already. [Manager.Reserve] sets memory aside for a job.
//
// Memory comes from a [Resource]: by default a [CachingResource], which keeps
// what is freed. A [SharedResource] has memory that other processes can open.
// Package memory/resource has the interface and the resources of the driver,
// memory/caching the default one, memory/buckets one with bins, and memory/adaptor
// resources that stand on others to limit, count, log, check or fail.
//
// # Order
//
// Memory belongs to a stream: the one it was allocated on. A nil stream argument
// stands for that stream. What may block takes a context.
//
// Everything that gpuframe does with a Block, on whatever stream, is ordered after the
// work that is pending on it, and is recorded as work itself. If nothing is pending on
// other streams that costs no call of the driver. [Slice.Unordered] opts out. Work that
// a caller enqueues by a stream's handle is made known by [Block.OrderBefore] ahead of
// it and [Block.RecordUse] after it. Memory is not used anew before all recorded work
// is done.
//
// # Streams of other libraries
//
// A stream made by [device.Device.WrapStream] may be destroyed by its owner at any time
// except during a call that names it. Blocks keep marks of the work on it, not its
// handle, so memory that it has used, or was allocated on it, stays usable and is freed
// in order when the stream is gone. [Block.RecordForeignUse] is for consumers that have
// worked on the memory on queues that nothing is known of.
//
// All types are safe for concurrent use.
package memory
