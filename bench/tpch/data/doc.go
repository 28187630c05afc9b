// Package data generates the eight tables of TPC-H at any scale factor.
//
//	g, err := data.New(0.01, 1)                     // scale factor and seed
//	for record, err := range g.Records(ctx, data.Lineitem, 1<<20) { … }
//	err = g.WriteParquet(ctx, "folder")             // folder/lineitem-000.parquet, …
//
// The columns, their types, the cardinalities, the distributions and the text follow the
// rules of the specification (revision 3, section 4.2). The random numbers are others than
// those of its program dbgen, so answers differ from the ones that it publishes.
//
// The random numbers of a row depend on the seed, the table and the number of the row. The tables are therefore the same for any number of processors
// and any size of the records.
package data
