// Package pipelinetest runs random pipelines of operators on a device and on the host,
// and compares the results.
//
// A [Pipeline] is drawn from a seed: two tables of columns of any types, and steps that
// each apply an operator to one or two of four registers and store the result in one.
// The host runs the pipeline while it is drawn, because the schema and the number of
// rows determine the next choices. Another device then runs the same steps, on two
// streams and in poisoned memory, and leaves its row counts on the device until they
// are requested. If one device refuses an input, the other must refuse it too.
//
// To add an operator, write an [Operator] and add it to the list of [Operators]: see
// operators_table.go and its neighbours.
package pipelinetest
