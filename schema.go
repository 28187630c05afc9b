package gpuframe

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
)

// Schema returns the names and types of the query's columns. It reads the schemas of the
// sources and nothing more.
//
// # Errors
//
// A query that does not fit its sources is a [*QueryError].
func (q Query) Schema(ctx context.Context) (*arrow.Schema, error) {
	n, err := bindQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	return n.Schema(), nil
}
