// Package plan holds bound queries: trees of operations with known columns and types.
//
// Constructors such as [NewFilter] check an operation against the schema of its input, so a
// tree that exists can run. Nodes are immutable; [Optimize] returns other trees with the
// same result. Package internal/query/exec runs a tree.
//
// Expressions are those of kernels/expr, without functions of several rows: package gpuframe
// divides these out of its expressions, and [Aggregate] and [Over] compute them as columns for the
// expressions of the operations above.
//
// # Optimizer
//
// [Optimize] applies these passes, each a file of its name. [OptimizeWithout] leaves some
// out. A pass keeps the names and types of the result's columns, the rows, and their order
// if that is specified.
//
//   - simplify computes constants, shortens conditions by Kleene's logic, moves conditions
//     that both sides of an Or have out of it, and removes filters that keep all rows and
//     operations that yield none.
//   - push filters moves conditions towards the sources: below projections that are cheap to
//     compute twice, sorts, unions, explosions of other columns, and groups, windows and distinct
//     rows if the condition reads only keys; into the sides of joins, also by equal keys from one
//     side to the other. An outer join becomes an inner one if a condition rejects its additional
//     rows. Scans get the conditions to leave out files and row groups; the filters stay.
//   - drop sorts removes sorts of rows that are in the order already, and sorts if nothing
//     reads the order.
//   - order joins joins the inputs of consecutive inner joins in the order of the smallest
//     expected results, the larger one on the left, if nothing depends on the order of the rows.
//   - narrow joins makes the condition of a filter above a cross join one of the join, if it bounds
//     the rows of one side by those of the other: a value in a range, spans that overlap.
//   - merge sets makes the groupings of one input that a union has one node, which merges the states of groups to those of
//     groupings by fewer keys: rollups, cubes and grouping sets.
//   - reduce groups adds a semi join below a group that is joined with far fewer rows than it
//     reads, so that only the rows of groups that match are grouped.
//   - drop keys does not group by keys that are computed of other keys.
//   - join groups joins a table with the groups of the rows in place of the rows, if the keys of the group
//     determine a row of the table and the aggregates do not read it.
//   - group early groups the values of one side of a join by its key before the join with a whole
//     table, if a group above can merge the results.
//   - share sums computes sums of an expression and constants, sum(x + 1) and sum(x + 2), from one
//     sum and one count, if nothing can overflow.
//   - prune columns removes columns, expressions, aggregates and windows that nothing above
//     reads, merges projections that follow each other, and inlines them in groups. Filters do
//     not copy columns that only their conditions read.
//   - push limits moves limits on the number of rows below projections, into the inputs of
//     unions, scans, and sorts, which then keep only the first rows.
//   - late columns reads only the columns of keys and conditions below a sort with a small limit, and
//     the others by the numbers of the rows that are left: of tables and Parquet files, on one device.
//   - fuse filters makes the condition of a filter below a group one of the group, so that no
//     table of the kept rows is made for it. So it does with conditions of all inputs of a union.
//   - relax order lets joins yield their rows in any order if nothing depends on it.
//   - share readers makes the scans of a reader, which can be read once, one scan.
//   - share subplans makes equal operations on equal inputs one node.
//   - bound probes passes the least and the greatest key of a join's right side to the scan of
//     its left side, which leaves out row groups and rows.
//
// [Distribute] makes a plan for several devices of the result.
package plan
