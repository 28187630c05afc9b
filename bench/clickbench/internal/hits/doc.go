// Package hits has the table of ClickBench as Parquet files and in the memory of a device, and measures questions.
package hits
