package main

import (
	"errors"
	"fmt"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
)

// openPeer opens a DuckDB with hits in memory, or as a view of the files.
func openPeer(files string, view bool, threads int) (*duckdb.Peer, error) {
	p, err := duckdb.Open(threads)
	if err != nil {
		return nil, err
	}
	kind := "table"
	if view {
		kind = "view"
	}
	if err := p.Execute(fmt.Sprintf("create %s hits as select * from read_parquet('%s')", kind, files)); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}
