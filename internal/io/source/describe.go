package source

import (
	"context"
	"slices"
)

// IsRemote reports whether a source is files in a store of objects, so that opening it waits for answers.
func IsRemote(s Source) bool {
	p, ok := s.(*parquetFiles)
	return ok && p.paths.remote()
}

// Describe reads what plans need of sources of objects of stores, at the same time: the footers of Parquet files. Binding asks one
// source at a time, and each would wait for an answer. Errors are those of a later call of the source.
func Describe(ctx context.Context, sources []Source) {
	list := slices.DeleteFunc(slices.Clone(sources), func(s Source) bool {
		return !IsRemote(s) || s.(*parquetFiles).table != nil // the metadata of a table have the rows
	})
	if len(list) < 2 {
		return
	}
	_ = concurrently(ctx, len(list), len(list), func(i int) error {
		list[i].Rows(ctx)
		return nil
	})
}
