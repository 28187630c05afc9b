// Package source gives tables to queries: tables on the device, Arrow records, Go
// values, and files.
//
//	sales, err := source.Files{}.Parquet([]string{"sales/*.parquet"})
//	reader, err := sales.Open(ctx, mgr, source.Request{Columns: []string{"city", "price"}})
//	defer reader.Close()
//	table, err := reader.Next(ctx)
//
// A [Source] reads nothing before its methods are called. It may be opened many times, also
// concurrently, unless its constructor documents that it can be read only once.
//
// The readers of a query share a [Readahead]. An [EarlyReader] reads files into host memory before its first table is
// needed, and learns later conditions by Narrow.
//
// # Ownership
//
// A source holds no references. Tables and records that it was made of must stay
// unreleased until the last reader is open; a reader retains what it reads. Readers of
// an io.Reader or io.ReaderAt use it until they are closed, and do not close it.
//
// # Errors
//
// Every error is an [*Error], which names the source, the path and the row group.
// Panics of decoders about damaged files become errors that wrap [ErrContents].
package source
