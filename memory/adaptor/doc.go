// Package adaptor has what goes between a memory manager and the resource its
// memory comes from: a second budget, figures, logs, checks and faults.
//
// The package example stacks figures and a limit on a resource and puts a manager on
// top.
//
// An adaptor is a resource.Resource that holds another one, its upstream. They
// stack in any order; resource.Find finds one in a stack. An adaptor passes on
// what it does not change: the device, the kind of memory, the context of a request,
// and Trim, which goes to the first resource below that keeps freed memory and gives
// back nothing if there is none.
//
// [Limit], [Statistics], [Tracking] and [Logging] count and tell. [Retry] asks
// again. [Aligned] and [Prefetch] change what is asked for. [Poison], [Guard] and
// [Fault] find mistakes in the code above. [Borrowed] keeps a resource from being
// closed.
//
// # Rules
//
// A stack is owned from its top: Close closes the upstream too, unless a
// [Borrowed] stands between. Closing twice returns resource.ErrClosed.
//
// Free ends an allocation even where it returns an error, as it does for a block
// of a manager: the error is passed on, and the memory counts as given back. The
// one exception is a [Guard], which refuses what must not be freed and leaves
// everything as it was. An adaptor above it has then counted a free that was
// none, so a Guard goes above those whose figures are to survive such mistakes.
//
// Errors of the upstream are passed on as they are. All adaptors are safe for
// concurrent use, and none waits for the device, but for a Guard with red zones.
package adaptor
