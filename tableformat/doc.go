// Package tableformat has the formats of tables that imported packages read, so that SQL, documents, the command line and
// Python open tables by the name of their format.
//
//	import _ "github.com/gpuframe/gpuframe/lake/iceberg"
//
//	q, err := tableformat.Scan(ctx, gpu, "iceberg", "s3://bucket/sales", tableformat.Options{})
//
// Packages lake/delta and lake/iceberg, of the separate module lake, register their formats when they are imported: programs
// have the dependencies of no format that they do not name. [Register] adds others.
package tableformat
