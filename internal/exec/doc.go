// Package exec runs plans of package plan: [Open] makes a reader of a plan's result.
//
// Each node becomes a reader that pulls tables from the readers of its inputs. Filters,
// projections, unions and slices pass tables on as they come. Groupings keep the partial
// result of each table and merge them at the end; sorts, windows and joins collect the
// tables of an input first. All work is enqueued on the stream of the inputs, and a reader
// waits only where an operator must know a row count. A node that several others read, and that
// holds rows, runs once: its tables are kept until all have read them.
package exec
