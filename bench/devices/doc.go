// Devices measures queries on one device and on several, in one run, and compares their results.
//
//	go -C bench run ./devices -device cuda:0,cuda:1,cuda:2,cuda:3 -rows 1000000000
//	go -C bench run ./devices -device cuda:0,cuda:1 -only join -operations 12
//	go -C bench run ./devices                              # three devices of the host, 10⁶ rows
//
// The rows are in the memory of the devices before a query begins: all on the first one, or an
// equal part on each. A time begins with the call of Collect and ends when the result is on the
// first device; the fastest of some calls after a first one is printed. Groups and sums of both
// runs are compared, bit for bit.
//
// The table has a key of int32 for each number of groups, a key of int32 for a join with a table of
// a tenth of the rows, in which each key occurs once, and values of float64. Keys are uniform.
package main
