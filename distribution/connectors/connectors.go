// Package connectors imports all stores of objects and all formats of tables. The programs of this module, and programs that want
// every one of them, import it:
//
//	import _ "github.com/gpuframe/gpuframe/distribution/connectors"
package connectors

import (
	_ "github.com/gpuframe/gpuframe/lake/delta"
	_ "github.com/gpuframe/gpuframe/lake/iceberg"
	_ "github.com/gpuframe/gpuframe/objectstore/azure"
	_ "github.com/gpuframe/gpuframe/objectstore/gcs"
	_ "github.com/gpuframe/gpuframe/objectstore/https"
	_ "github.com/gpuframe/gpuframe/objectstore/s3"
)
