// Package iceberg reads tables of Apache Iceberg as queries of gpuframe, and writes queries as tables.
//
//	table, err := iceberg.Open(ctx, "s3://bucket/sales", iceberg.Options{})
//	revenue := table.Query(gpu).Filter(year.Eq(2026)).GroupBy(city).Agg(price.Sum())
//
//	catalog, err := iceberg.Connect(ctx, "https://catalog.example.com", iceberg.CatalogOptions{Token: token})
//	table, err = catalog.Open(ctx, []string{"shop", "sales"}, iceberg.Options{})
//
// [Open] reads the newest metadata of a table, the manifests of a snapshot, position deletes and deletion vectors. A query reads
// the Parquet files of the snapshot, and leaves out files by their partitions and column bounds before it opens them. Deleted
// rows are dropped on the device.
//
// [Create] and [OpenWriter] return a [Writer], which appends the rows of a query to a table or overwrites all of them.
//
// # What is read
//
// Format versions 1, 2 and 3. Columns are found by field IDs, so that they may have been added, renamed, moved, dropped and
// widened; added ones have their initial defaults in older rows. Files without field IDs are read by the name mapping of the
// table. Deletes are position deletes, deletion vectors and equality deletes. [ErrUnsupported] names what is not read: data files
// of Avro and ORC, encrypted files, the types variant, geometry and geography, equality deletes by floating-point,
// UUID, fixed or nested columns. The columns of row lineage are not read.
//
// Metadata are trusted like a program's argument: they name files by absolute paths, which may lie outside the folder of the table.
package iceberg
