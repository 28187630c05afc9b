// Package prune decides from statistics which parts of a source can be left out: parts
// of a file, or files, in which no row can meet a condition.
//
// A condition on a column becomes a condition on the least and the greatest value of
// the column in each part: price > 50 can be true in a part only if its greatest price
// is more than 50. The new conditions are evaluated by package expr, over a record with
// one row for each part. So conversions between types, such as of timestamps of two
// units, are those of the query itself: all of them are monotonic, so a bound stays a
// bound. A part is left out only if the result is false. Unknown statistics are nulls
// and give null or true.
//
// # NaN and nulls
//
// Statistics disregard NaN. NaN meets no comparison except Ne, so conditions with Ne
// leave out no part of a column of floats. Nulls meet only IsNull.
//
// # Text
//
// Strings and binary values are compared here, by bytes. A greatest value that was cut
// short without being rounded up is accepted: values that begin with it count as
// possible.
package prune
