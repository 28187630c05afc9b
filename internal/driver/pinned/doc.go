// Package pinned keeps the page-locked host memory of each device: one pool, with one
// limit. The chunks that stage transfers, the buffers for Arrow readers, the pinned
// resource and the words in which kernels return single results come from it.
package pinned
