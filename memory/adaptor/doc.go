// Package adaptor contains adaptors between a memory manager and its resource:
// budgets, statistics, logs, checks and injected faults.
//
// The package example puts statistics and a limit on a resource and a manager on
// top.
//
// An adaptor is a resource.Resource that holds another one, its upstream. Adaptors
// stack in any order; resource.Find finds one in a stack. An adaptor passes on
// everything that it does not change: the device, the kind of memory, the context of
// a request, and Trim, which goes to the first resource below that keeps freed
// memory and does nothing without one.
//
// [Limit], [Statistics], [Tracking] and [Logging] count and record requests. [Retry]
// repeats requests. [Aligned] changes their size, and [Prefetch] moves new managed
// memory to the device. [Poison], [Guard] and [Fault] find mistakes in the code
// above. [Borrowed] keeps a resource from being closed.
//
// # Ownership
//
// The top of a stack owns the whole stack: Close also closes the upstream, unless a
// [Borrowed] is between them. Closing twice returns resource.ErrClosed.
//
// # Errors
//
// Free ends an allocation even if it returns an error, as it does for a block of a
// manager: the error is passed on, and the memory counts as freed. The only
// exception is a [Guard], which rejects an invalid free and changes nothing. An
// adaptor above the Guard has then already counted the free, so put the Guard above
// adaptors with counts that must stay correct.
//
// Errors of the upstream are passed on unchanged.
//
// # Waiting
//
// All adaptors are safe for concurrent use. None waits for the device, except a
// Guard with red zones.
package adaptor
