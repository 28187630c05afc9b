// Package sketch has aggregates of limited size and known error for expressions: sketches of Apache DataSketches.
//
// A sketch is a value of type binary in the format of DataSketches, which its libraries in Java, C++, Python and Go
// read and write, and which extensions of PostgreSQL, BigQuery, Hive and Druid have as a column. Sketches of parts of the rows are
// merged; the result is the sketch of all rows.
//
//	sketch    of                     error
//	HLL       the number of          1.04 / √2^lgK: 1.6 % for lgK = 12
//	          distinct values
//	KLL       quantiles and ranks    2.296 / k^0.9723 of the rank, in 99 of 100 cases:
//	                                 1.33 % for k = 200
//	frequent  the most frequent      3.5 / size of the rows at most, and bounds of the number
//	          items                  of each item: 0.34 % for 1024
//
// A sketch depends on the rows and their order alone. KLL sketches keep one of two halves of the values that they replace: a hash of
// these values and of the number of all values decides which. Sketches of frequent items subtract the median of the counters, not that of
// a sample. Bytes of others are checked before they are used, and take at most memory in proportion to their length.
//
// The host computes them, from lists of the values of each group of a table: the functions are [expr.Operator]s, so the operands
// are copied from a GPU and the result back. Package group merges the sketches of several tables: group.Fold.
package sketch
