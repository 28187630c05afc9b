// Package hostword keeps words of page-locked host memory that a device's kernels
// write to where they are. So the host can learn a yes or no of a kernel by waiting
// for it, without a copy: of a small operator a copy would be half of the time.
package hostword
