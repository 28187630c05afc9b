// Package exec runs plans of package plan: [Open] makes a reader of a plan's result.
//
// Each node becomes a reader that pulls tables from the readers of its inputs. Filters,
// projections, unions and slices pass tables on as they come. Groupings keep the partial
// result of each table and merge them at the end; sorts, windows and joins collect the
// tables of an input first. All work is enqueued on the stream of the inputs, and a reader
// waits only where an operator must know a row count. A node that several others read, and that
// holds rows, runs once: its tables are kept until all have read them.
//
// Of a plan of plan.Distribute, the operations below a gathering run on several devices at a
// time, each with its own readers and on its batches of the sources. The reader of the gathering
// yields the tables in the order of the batches. A shuffle between two such parts of a plan moves
// all rows of the lower one before the upper one reads them: by a hash of keys, or by ranges of
// sort keys that are chosen from samples.
package exec
