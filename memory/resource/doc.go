// Package resource contains the interface of memory resources, and the resources that
// call the driver for each allocation.
//
//	| resource        | memory                                     | freeing            |
//	| --------------- | ------------------------------------------ | ------------------ |
//	| [Driver]        | cuMemAlloc                                 | waits for its work |
//	| [StreamOrdered] | a pool of the driver, cuMemAllocFromPool   | in stream order    |
//	| [Managed]       | cuMemAllocManaged                          | waits for its work |
//	| [Pinned]        | page-locked memory of the host             | waits for its work |
//
// Package memory/caching keeps freed memory, memory/buckets sorts it into bins, and
// memory/adaptor contains resources on top of others. To use another resource,
// implement [Resource] and set memory.Options.Resource.
package resource
