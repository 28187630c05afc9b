// Clickbench runs the 43 questions of ClickBench, as SQL, on a table like its `hits` of 105 columns, and prints
// the fastest time of each.
//
//	go -C bench run ./clickbench -rows 10000000 -folder DIR       # a table in memory, on the first GPU
//	go -C bench run ./clickbench -rows 100000000 -folder DIR -parquet
//	go -C bench run ./clickbench -rows 1000000 -device host
//	go -C bench run ./clickbench -rows 10000000 -folder DIR -questions 23,28
//
// The rows are of a seed (internal/testing/clickbench) and are written as Parquet files first, which a folder keeps
// for later runs. A time begins with the text of the question and ends when the result is in device memory. The
// first run of a question, which compiles kernels, is the column "first".
//
// bench/clickbench/duckdb also runs the questions with DuckDB, on the same files and in the same run, and compares the answers. It is
// a separate module.
package main
