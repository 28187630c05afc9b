package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
)

// openPeer opens a database with the tables in the Parquet files of a folder: as tables in
// memory, or as views that read the files. threads is 0 for all processors.
func openPeer(folder string, views bool, threads int) (*duckdb.Peer, error) {
	p, err := duckdb.Open(threads)
	if err != nil {
		return nil, err
	}
	kind := "table"
	if views {
		kind = "view"
	}
	for _, t := range data.Tables {
		files := strings.ReplaceAll(filepath.Join(folder, t.String()+"-*.parquet"), "'", "''")
		if err == nil {
			err = p.Execute(fmt.Sprintf("create %s %s as select * from read_parquet('%s')", kind, t, files))
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}
