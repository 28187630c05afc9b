// Package resource has the interface of everything that memory comes from, and the
// resources that ask the driver for each allocation.
//
//	| resource        | memory                                     | freeing            |
//	| --------------- | ------------------------------------------ | ------------------ |
//	| [Driver]        | cuMemAlloc                                 | waits for its work |
//	| [StreamOrdered] | a pool of the driver, cuMemAllocFromPool   | in stream order    |
//	| [Managed]       | cuMemAllocManaged                          | waits for its work |
//	| [Pinned]        | page-locked memory of the host             | waits for its work |
//
// Package memory/caching keeps freed memory, memory/buckets sorts it into bins, and
// memory/adaptor has resources that stand on others. A resource of your own
// implements [Resource]; memory.Options.Resource takes it.
package resource
