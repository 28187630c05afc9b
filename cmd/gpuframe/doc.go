// Gpuframe runs queries on files, and inspects the memory of devices.
//
//	gpuframe info                                   # the devices and their memory
//	gpuframe schema flights.parquet                 # the columns
//	gpuframe head -n 5 flights.parquet
//	gpuframe describe flights.parquet               # statistics of each column
//	gpuframe query flights.parquet -p 'filter delay > 15 | group origin agg count() as n | top 10 by n desc'
//	gpuframe query 'logs/*.csv' --filter 'level = "error"' --sort time -o errors.parquet
//	gpuframe query flights.parquet -p 'join "airports.csv" on origin = code'
//	gpuframe sql "select origin, count(*) from 'flights.parquet' group by all"
//	gpuframe query --document --table flights -p 'head 10' # a query document for a server
//	gpuframe functions quantile                     # a function of expressions
//	zcat log.csv.gz | gpuframe query - --from csv   # standard input
//	gpuframe serve --table flights=flights.parquet  # Arrow Flight, by the module flight
//	gpuframe mem replay trace.csv --resource pool   # a logged trace of allocations
//	gpuframe top localhost:6060/debug/gpu           # a running program, live
//	gpuframe mem snapshot localhost:6060/debug/gpu -o memory.pickle
//	gpuframe mem diff before.json after.json        # what holds more
//	gpuframe mem leaks localhost:6060/debug/gpu     # blocks that are held for long
//	gpuframe completion bash                        # completion for a shell
//
// Files are Parquet, CSV, JSON lines or Arrow IPC, patterns or folders of them. The result
// is a table or a file of one of these formats. Package pipeline has the grammar of queries.
//
// --explain prints the plan, --explain=mermaid a flowchart and --explain=svg a picture of it, --profile what each operation did. Long work shows its progress
// if standard error is a terminal. An interrupt ends a command with status 130, after it has
// released its memory. A reader of the output that ends early, such as head, ends it with
// status 0, except on Windows.
//
// A trace is a log of adaptor.Logging or of RMM's logging adaptor.
//
// This program reads files of the machine and of web servers. The one of the module distribution has the same commands, and reads
// tables of Delta Lake and Iceberg, and objects of S3, Google Cloud Storage and Azure, too.
package main
