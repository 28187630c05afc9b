// Package caching contains the default resource of a memory manager. It keeps freed
// memory and reuses it in stream order without calling the driver.
//
// A request tries these levels in order until one serves it:
//
//	stream cache      blocks of the size that were freed last on the stream (a lock
//	                  that no other stream takes)
//	free runs         the best fit among the free memory of the stream, and of memory
//	                  without pending work (the resource's lock)
//	other streams     memory of another stream, if its last use has completed
//	segments          new memory from the driver: mapped in place, or fixed pieces
//	other streams     memory of another stream, after the event of its last use
//	last resort       all idle memory is merged and released; then the resource
//	                  waits for pending work, without its lock
//
// A block that is freed while further streams use it is held until their events have
// completed. Epochs mark the last use of a block on the stream that it belongs to: an
// event is recorded only if another stream could use the memory.
//
// Package memory has short names for the types that programs use:
// memory.NewCachingResource, memory.CachingOptions.
package caching
