// Package clickbench makes tables like `hits` of ClickBench (github.com/ClickHouse/ClickBench), and has its 43
// questions in SQL. The columns have the names and types of the original, and skews like its own: a few counters
// have most of the hits, most texts of rare columns are empty, users and addresses are distributed by a power
// law. The values are random, of a seed: the same seed gives the same rows however many there are in a record.
package clickbench
