// Dbbenchmark answers the ten group-by questions and the five join questions of db-benchmark
// (duckdblabs/db-benchmark) for tables that are made by its rules, and prints the time of each.
//
//	go -C bench run ./dbbenchmark                          # 10⁷ rows on the first GPU
//	go -C bench run ./dbbenchmark -rows 100000000 -k 100
//	go -C bench run ./dbbenchmark -task join -rows 100000000
//	go -C bench run ./dbbenchmark -only q1,q9 -profile     # with the library of bench/profile
//	go -C bench run ./dbbenchmark -device host -rows 1000000 -na 5 -sorted
//
// The data has the distributions of _data/groupby-datagen.R and _data/join-datagen.R, from a
// seeded generator in Go: the numbers differ from those of R. Strings are plain strings. A question runs
// several times after one warm-up; the fastest time is printed. It begins with the tables
// on the device and ends when the answer is there, on the device.
//
// bench/dbbenchmark/duckdb runs the questions on the same data with gpuframe and with DuckDB,
// and compares the answers. It is a separate module:
//
//	cd bench/dbbenchmark/duckdb && go run . -rows 100000000
//	cd bench/dbbenchmark/duckdb && go run . -rows 100000000 -task join
//	cd bench/dbbenchmark/duckdb && go test .    # random aggregates, compared
package main
