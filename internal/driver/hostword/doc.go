// Package hostword provides words of page-locked host memory that a device's kernels
// write directly. The host can get a small result from a kernel by waiting for the
// kernel, without a copy. For a small operator a copy would be half of the time.
package hostword
