// Package faulttest injects a fault at each point where an operation can fail.
//
// An [Operation] runs on managers made for the test. [EachAllocation] fails the
// allocations that it requests from the manager's resource, on every device that is
// present. [EachCall] fails its driver calls, [EachCallLost] makes the device lost at
// one of them, and [EachCallCancelled] cancels the context there. These three run over
// the driver of the host and over that of a device that imitates a GPU, so that
// transfers are staged and kernels launched on any machine.
//
// After each fault the operation either returns an error that names it and the cause,
// or succeeds. It must hold nothing afterwards, and must work when it is repeated.
package faulttest
