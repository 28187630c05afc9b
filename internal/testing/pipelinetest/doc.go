// Package pipelinetest runs random pipelines of operators on a device and on the host,
// and compares what comes out.
//
// A [Pipeline] is drawn from a seed: two tables of columns of any types, and steps that
// each apply an operator to one or two of four registers and put the result into one.
// The host runs it while it is drawn, since what can be drawn next depends on the
// schema and the number of rows. Another device then runs the same steps, on two
// streams and in poisoned memory, and leaves its row counts on the device as long as
// nobody asks for them. An operator that refuses its input has to refuse it on both.
//
// To add an operator, write an [Operator] and put it into the list of [Operators]: see
// operators_table.go and its neighbours.
package pipelinetest
