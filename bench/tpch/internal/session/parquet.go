package session

import (
	"fmt"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/device"
)

// scan returns a query on the files of a table.
func (s *Session) scan(folder string, t data.Table) (gpuframe.Query, error) {
	return gpuframe.Query{}, fmt.Errorf("queries of Parquet files: %w", device.ErrNotSupported)
}
