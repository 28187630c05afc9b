// Package sketch has aggregates of limited size and known error for expressions: sketches of Apache DataSketches.
//
// A sketch is a value of type binary in the format of DataSketches, which its libraries in Java, C++, Python and Go
// read and write, and which extensions of PostgreSQL, BigQuery, Hive and Druid have as a column. Sketches of parts of the rows are
// merged; the result is the sketch of all rows.
//
//	sketch    of                     error
//	HLL       the number of          1.04 / √2^lgK: 1.6 % for lgK = 12
//	          distinct values
//
// The host computes them, from lists of the values of each group: the functions are [expr.Operator]s, so the operands
// are copied from a GPU and the result back.
package sketch
