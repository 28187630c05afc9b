package source

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// remoteSource is a source that may be files in a store of objects. It is an interface, as those of other abilities are, so that
// a program which reads no files links none of their decoders.
type remoteSource interface {
	Source
	// remote reports whether the files are in a store, and counted whether their rows are known without their footers.
	remote() bool
	counted() bool
}

// IsRemote reports whether a source is files in a store of objects, so that opening it waits for answers.
func IsRemote(s Source) bool {
	r, ok := s.(remoteSource)
	return ok && r.remote()
}

func (s *parquetFiles) remote() bool { return s.paths.remote() }

// counted is true with a table, whose metadata have the rows.
func (s *parquetFiles) counted() bool { return s.table != nil }

// Description is what plans need of a source: its schema, or the error of it, and its rows.
type Description struct {
	Schema *arrow.Schema
	Err    error
	Rows   int64
	Exact  bool
}

// Describe returns what plans need of a source.
func Describe(ctx context.Context, s Source) (d Description) {
	if d.Schema, d.Err = s.Schema(ctx); d.Err == nil {
		d.Rows, d.Exact = s.Rows(ctx)
	}
	return d
}

// DescribeRemote is Describe for those of several sources that are objects of stores, at the same time: binding asks one
// source at a time, and each would wait for the answers to the requests of footers. It leaves out a single such source. An error is
// that of one source: the others are described.
func DescribeRemote(ctx context.Context, sources []Source) map[Source]Description {
	list := slices.DeleteFunc(slices.Clone(sources), func(s Source) bool {
		r, ok := s.(remoteSource)
		return !ok || !r.remote() || r.counted()
	})
	if len(list) < 2 {
		return nil
	}
	ctx = withRequests(ctx, newRequestLimit())
	descriptions := make([]Description, len(list))
	err := concurrently(ctx, len(list), mostRequests, func(i int) error {
		descriptions[i] = Describe(ctx, list[i])
		return nil
	})
	if err != nil {
		return nil // the context is done
	}
	described := make(map[Source]Description, len(list))
	for i, s := range list {
		described[s] = descriptions[i]
	}
	return described
}
