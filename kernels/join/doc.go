// Package join joins the rows of two tables by equal keys.
//
//	joined, err := join.Tables(ctx, flights, carriers, join.Using("carrier"), join.Options{Kind: join.Left})
//
//	pairs := []join.On{{Left: "id", Right: "flight"}, {LeftExpr: expr.Col("time").Day(), Right: "day"}}
//	left, right, err := join.Rows(ctx, flights, delays, pairs, join.Options{
//		Where: expr.Col("minutes").Gt(expr.Lit(15)), // decides what matches
//	})
//
// The operators run on the device that holds the tables. All functions may be called from
// any goroutine. The caller releases the results. Results are the same on every device, and
// in every run.
//
// # Keys
//
// Keys have any type that order.Sort takes. Values are equal as for a sort: all NaNs are
// equal, −0 equals 0, values of dictionaries are compared, not their codes. Keys of
// different types are compared exactly: integers of any width and sign, floats of any
// width, decimals of different scales, dates, timestamps, times and durations of different
// units, strings with offsets of 32 and 64 bits, and dictionaries of these. Other types
// have to be cast to one type first. A null key matches nothing, unless Options.NullsEqual
// is set. Then null matches null. A time that the finer of two units does not hold, such as the year
// 9999 in nanoseconds, matches nothing.
//
// # Results
//
//	Inner         pairs that match: columns of the left table, then of the right one
//	Left, Right   these, and rows of the one side without a match
//	Full          these, and rows of both sides; a key of one name has the value that exists
//	Semi, Anti    left rows with a match, without one
//	Cross         all pairs
//
// A right column gets a suffix if the left table has its name. A right key of the same name
// as its left key is left out. Rows are in the order of the larger table, then of the smaller
// one; LeftOrder is by left rows, then right rows, right rows without a match last. A result of
// more than MaxRows or 2³¹−1 rows is a [*TooManyRowsError].
//
// # Memory and waits
//
// A join needs 16 bytes for each row of the probe side and 8 for each pair. On a GPU the build
// side takes 6 to 8 bytes for each row, 12 to 20 more if keys repeat, and 8 for keys that are
// not one integer; on the host 32. The host waits for the number of pairs and whether build
// keys repeat, together, and again for the number of pairs if they do; with a condition for
// the pairs that meet it; in right and full joins for the rows without a match.
//
// # Parts
//
// [Build] prepares a right table once for any number of left tables, such as the batches of a
// stream; a spiller may move it to the host between calls. [Batches] yields a result in parts, also one that exceeds the memory or [MaxPairs].
//
// # Nearest keys
//
// [AsOf] finds for each left row the right row with the nearest key in a direction, such as
// the last quote before each trade:
//
//	join.AsOf(ctx, trades, quotes, join.Using("time")[0], join.AsOfOptions{By: join.Using("symbol"), Tolerance: time.Second})
//
// [Range] finds the right rows with a value between two columns of the left table.
//
// # Matches
//
// All kinds of join first find, for each row of one side, the rows of the other side that
// match: a list of rows, and a span of it for each row. A condition removes pairs from these
// spans.
//
// Rows are found by places if the keys of the smaller table are integers in a small range,
// which the device measures, otherwise by a hash table; keys that do not fit 64 bits are
// sorted and searched. Rows that have at most one match are paired in one pass, and
// compacted if some have none. Of others the pairs are counted, their number is read by the host, and
// each pair is written by one thread of a GPU. So the time depends on the number of pairs, not on how
// they are distributed over the keys.
//
// A slot of the hash table has 32 bits, the number of a row and a tag of its hash, so that the
// table of ten million rows stays in the L2 cache. The insertion stops when a key comes twice;
// then the rows are sorted by slot, so no thread follows a chain. Strings, decimals and
// dictionaries of both sides are numbered together first.
//
// AsOf on a GPU makes one word of the keys in By, the as-of key and the row, sorts the right
// words, brings the left ones into the same blocks by their leading digits, and searches in
// shared memory. Words of more than 64 bits, and the host, sort the right rows and search.
// Range sorts the right rows and searches with both bounds.
package join
