// Package radix sorts unsigned integers of 32 or 64 bits on the GPU, alone or with a
// 32-bit number for each, stably, and in the order of any range of their bits.
//
// The sort is a least-significant-digit radix sort with a pass for each digit of 8 bits
// (onesweep, Adinets and Merrill 2022). One kernel counts all digits first. The device
// then skips passes of digits that all keys share, and all passes if the keys are
// sorted; the host does not wait.
//
// The passes sort many rows only by the leading digits that distinguish most rows. A
// sorted sample and the counts of the digits determine their number. A further kernel then
// orders the rows of equal leading digits, which are few and together. If a run of them is long, a
// second round sorts by all digits.
//
// A few thousand rows are sorted by one block in one kernel.
package radix
