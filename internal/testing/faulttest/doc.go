// Package faulttest fails, one after the other, all that an operation depends on.
//
// An [Operation] is tried on managers that are made for it. [EachAllocation]
// fails the requests it makes of the manager's resource, on every device that is
// present. [EachCall] fails the calls it makes of the driver, [EachCallLost] lets
// the device be lost at one of them, and [EachCallCancelled] ends the context
// there; these run over the host's driver and over that of a device that passes
// for a GPU, so that transfers are staged and kernels launched on any machine.
//
// Whatever fails, the operation returns an error that says so, or has succeeded
// in spite of it; it holds nothing afterwards, and works when it is tried again.
package faulttest
