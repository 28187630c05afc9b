// Tpch runs the 22 queries of TPC-H and prints the fastest time and the memory of each.
//
//	go -C bench run ./tpch -sf 10                       # tables in memory, on the first GPU
//	go -C bench run ./tpch -sf 1 -device host -queries 1,6
//	go -C bench run ./tpch -sf 10 -parquet -folder DIR  # from Parquet files, which are written first
//	go -C bench run ./tpch -sf 10 -parquet -budget 1000000000
//	go -C bench run ./tpch -sf 100 -device cuda:0,cuda:1,cuda:2,cuda:3 -spread # a part of the tables on each
//	go -C bench run ./tpch -sf 100 -device cuda:0 -host-tables                 # larger than the GPU's memory: packed, with -plain not
//	go -C bench run ./tpch -sf 10 -answers DIR          # writes the answers, or compares them with a run before
//	go -C bench run ./tpch -sf 1 -clients 8             # at the same time, answers compared with those alone
//	go -C bench run ./tpch -sf 1 -explain -queries 5
//	go -C bench run ./tpch -sf 10 -operations 5         # the operations that take the most time
//	go -C bench run ./tpch -sf 1 -cpuprofile tpch.prof
//	go -C bench run ./tpch -sf 0.1 -device host -ablation # each query without each pass of the optimizer
//
// Package data makes the tables, package queries has the queries. A time begins with the call
// of Collect and ends when the result is in device memory; a first call, which compiles
// kernels, is not counted. The memory is that of the query without the tables.
//
// bench/tpch/duckdb also runs the queries with DuckDB, on the same data and in the same run,
// and compares the answers. It is a separate module:
//
//	cd bench/tpch/duckdb && go run . -sf 10
package main
