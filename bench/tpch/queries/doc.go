// Package queries has the 22 queries of TPC-H, written with package gpuframe: a file for each,
// next to its SQL.
//
// They read as their SQL does, with these habits of a frame:
//
//   - A subquery that is compared with each row is an aggregate of a window:
//     Filter(total.Eq(total.Max())), or Over(By(key)) for one that depends on a key.
//   - EXISTS and IN are semi-joins, NOT EXISTS and NOT IN are anti-joins. Their conditions on
//     both sides, other than equal keys, are given by Matching.
//   - A sum of CASE WHEN is a sum with Where.
//   - Rows are grouped by the key of an entity. Its other columns are joined to the
//     groups, if there are fewer of them.
package queries
