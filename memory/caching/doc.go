// Package caching has the resource that a manager uses by default. It keeps freed
// memory and hands it out again in stream order without calling the driver.
//
// A request goes down these levels until one serves it:
//
//	stream cache      blocks of the size that were freed last on the stream (a lock
//	                  that no other stream takes)
//	free runs         the best fit among the free memory of the stream, and of memory
//	                  that no work is pending on (the resource's lock)
//	other streams     memory of another stream whose last use has completed
//	segments          new memory from the driver: mapped in place, or fixed pieces
//	other streams     memory of another stream, after the event of its last use
//	last resort       everything idle is merged and given back; then the resource
//	                  waits for pending work, without its lock
//
// A block that is freed while further streams use it is held until their events are
// reached. Epochs mark the last use of memory on its own stream: an event is recorded
// only if another stream could want the memory.
//
// Package memory has short names for what programs use: memory.NewCachingResource,
// memory.CachingOptions.
package caching
