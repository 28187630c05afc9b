// Gpuframe is the program of github.com/gpuframe/gpuframe/cmd/gpuframe, which describes its commands, with all stores of objects
// and formats of tables.
//
//	gpuframe query s3://bucket/sales/ --from parquet -p 'group city agg count() as n'
//	gpuframe query s3://bucket/sales --from iceberg -p 'filter year = 2026'
//	gpuframe sql "select count(*) from delta_scan('sales', version = 3)"
package main

import (
	_ "github.com/gpuframe/gpuframe/distribution/connectors" // URLs and tables of all kinds
	"github.com/gpuframe/gpuframe/internal/command"
)

func main() { command.Main() }
