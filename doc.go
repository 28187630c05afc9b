// Package gpuframe is a columnar layer for GPUs.
//
// [Open] opens a device and a memory manager with a budget. The packages below work on
// them: buffer loads tables from Arrow records, kernels/expr and the other families in
// kernels compute on them, dlpack and arrowdev pass their memory to other libraries.
//
//	session, err := gpuframe.Open(gpuframe.Budget(8 << 30)) // the first GPU, or the host
//	defer session.Close()
//	table, err := buffer.FromRecord(session.Manager(), record)
//
// Lazy queries on files and tables will be built on a [Session].
package gpuframe
