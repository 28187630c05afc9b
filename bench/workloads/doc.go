// Workloads runs questions of four workloads, written with the verbs of gpuframe, and prints the time of each.
//
//	go -C bench run ./workloads                              # all sets, on the first GPU, or the host
//	go -C bench run ./workloads -device host -rows 200000
//	go -C bench run ./workloads -set series -question "as of"
//	go -C bench run ./workloads -device host -set nested -cpuprofile nested.prof
//
// The sets are
//
//	retail    a star schema like that of TPC-DS: rollups, windows over aggregates, set operations, self joins
//	series    quotes, trades, sensors and events: as-of joins, windows of time, gaps, sessions
//	nested    lists, structs, maps, JSON, logs and texts
//	features  columns for models, statistics, vectors, sketches
//
// The fifth workload, ClickBench, is bench/clickbench. A question is a value in Go: a function of queries, and the same question
// in DuckDB's SQL. The tables are of a seed. A time begins with the call of the function and ends when the result is in
// device memory; a first call, which compiles kernels, is not counted.
//
// bench/workloads/duckdb also runs the questions with DuckDB, on the same rows and in turns, and compares the answers.
// It is a separate module:
//
//	cd bench/workloads/duckdb && go run . -device host
package main
