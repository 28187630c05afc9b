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
// Inner, Left, Semi and Anti joins with a condition need no keys. If the condition bounds a column of
// one table by columns of the other, from below and from above, the pairs are found in sorted rows.
// The build rows of one probe row are then in no specified order, unless the order is LeftOrder.
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
// not one integer; on the host 32. A join by bounds needs about 24 bytes for each row of the
// build side, and 8 for each of the probe side, instead of these. The host waits for the number of
// pairs and whether build keys repeat, together, and again for the number of pairs if they do; with a condition for
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
// # How matches are found
//
// All kinds of join first find, for each row of one side (the probe side), the rows of the other side (the build side) that
// match: a list of rows, and a span of it for each row. A condition removes pairs from these spans. The first strategy that
// applies is taken (choose.go has their tables, tuning.go the limits).
//
//	strategy         applies to                                              file
//	all pairs        cross joins                                             find_all.go
//	no pairs         a side without rows                                     find_all.go
//	listed places    integers in a known range with fewer places than        find_table.go
//	                 build rows, on a GPU: the rows are sorted by place
//	known places     integers in a known, small range: each has a place      find_table.go
//	measured places  integers of an unknown range: the device measures it,   find_table.go
//	                 and uses places or a hash table
//	hash table       other keys that fit 64 bits                             find_table.go
//	sorted keys      all others: the build side is sorted and searched       find_sorted.go
//
// A table on a GPU has a filter of some bits for each row of the build side, if there are many more rows of the probe side:
// few of those without a match are looked up (filtered.cu). An inner join of few left rows with many right rows in LeftOrder
// probes the right rows, and sorts the pairs (reversed.go).
//
// Strings, decimals and dictionaries of both sides are numbered together first, so they are integers too. On a GPU only the
// strings of the shorter side go into a table, and those of the other one are looked up. The range of a column is
// remembered.
//
// A slot of the hash table has 32 bits, the number of a row and a tag of its hash, so that the
// table of ten million rows stays in the L2 cache. The insertion stops when a key comes twice;
// then the rows are sorted by slot, so no thread follows a chain.
//
// # How pairs are made
//
//	strategy         applies to                                              file
//	filtered rows    semi and anti joins without MaxRows: the left table     filter.go
//	                 is filtered
//	one pass         inner joins by distinct build keys: pairs are written   pair_single.go
//	                 at their row, and compacted if rows have no match
//	every row        left joins by distinct right keys: the matches are      pair_every_row.go
//	                 the pairs
//	counted          all others: the host reads the number of pairs, and     pair_counted.go
//	                 one thread of a GPU writes each
//
// Whether build keys are distinct is tried: if they are not, the pairs are counted. So the time
// depends on the number of pairs, not on how they are distributed over the keys.
//
// # How the nearest rows are found
//
// [AsOf] makes one word of the keys in By, the as-of key and the row on a GPU, and sorts the right words.
//
//	strategy         applies to                                              file
//	merge            words and few right rows, searched in shared memory     asof_merge.go
//	sorted merge     words: the leading digits of the left words bring       asof_merge.go
//	                 them into the blocks of their right words
//	searches         longer keys, and the host: the right rows are sorted    asof_search.go
//	                 and searched
//
// Range sorts the right rows and searches with both bounds.
package join
