// Package objectstore describes stores of objects, such as those of S3 and web servers, as sources and sinks of queries
// need them: objects are read by ranges, many at a time, and listed by prefixes of their names.
//
//	import _ "github.com/gpuframe/gpuframe/objectstore/s3"
//
//	gpu.Parquet("s3://bucket/sales/year=*/*.parquet")
//
// A package of a provider registers its schemes when it is imported: objectstore/https, which is part of this module,
// and objectstore/s3, objectstore/gcs and objectstore/azure, separate modules, so that programs have the dependencies of no provider that they do not name.
// [Register] adds further stores, or one of S3 with other credentials under another scheme.
//
// # Errors
//
// Every error of a store is an [*Error] with the URL as [Display] shows it, the status and the identifier of the request.
// It wraps one of the conditions of this package or of io/fs. Requests that fail for a time are repeated: see [Retry]. Queries and signatures
// of URLs, and credentials, are in no error.
package objectstore
