// Package checks looks at the contents of Arrow buffers that came from another
// library, so that nobody indexes out of bounds by them later: offsets, views,
// run ends, type ids and dictionary indices.
//
// A [Batch] collects checks and runs them all on one stream with one wait. On a
// GPU each is a kernel, whose PTX is part of the program and is compiled when it is
// first needed, and what all of them found comes in one small download; nothing
// else leaves the device. On the host the processor looks. Both find the same: of
// each check the first element that is wrong.
//
// The rules are those of Arrow's columnar format. Offsets and list views hold for
// null slots too; what binary views and dictionary indices of null slots are is
// nobody's business. Memory may lie at any address: what is not aligned is read
// byte by byte, which is slow but right.
package checks
