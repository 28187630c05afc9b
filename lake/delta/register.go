package delta

import (
	"context"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/tableformat"
)

var registered = tableformat.Register("delta", open)

// Registered returns the error of registering the format for package tableformat: another package has taken its name.
// Otherwise it returns nil.
func Registered() error { return registered }

func open(ctx context.Context, engine *gpuframe.Engine, path string, options tableformat.Options) (gpuframe.Query, error) {
	if err := options.Only("delta", "version", "timestamp"); err != nil {
		return gpuframe.Query{}, err
	}
	table, err := Open(ctx, path, Options{Version: options.Version, Timestamp: options.Timestamp, System: options.System})
	if err != nil {
		return gpuframe.Query{}, err
	}
	return table.Query(engine), nil
}
