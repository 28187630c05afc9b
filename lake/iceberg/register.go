package iceberg

import (
	"context"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/tableformat"
)

var registered = tableformat.Register("iceberg", open)

// Registered returns the error of registering the format for package tableformat: another package has taken its name.
// Otherwise it returns nil.
func Registered() error { return registered }

func open(ctx context.Context, engine *gpuframe.Engine, path string, options tableformat.Options) (gpuframe.Query, error) {
	if err := options.Only("iceberg", "snapshot", "timestamp", "ref", "moved"); err != nil {
		return gpuframe.Query{}, err
	}
	table, err := Open(ctx, path, Options{
		Snapshot: options.Snapshot, Timestamp: options.Timestamp, Ref: options.Ref, Moved: options.Moved, System: options.System,
	})
	if err != nil {
		return gpuframe.Query{}, err
	}
	return table.Query(engine), nil
}
