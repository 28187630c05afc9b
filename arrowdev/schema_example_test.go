//go:build cgo && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"fmt"
	"log"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/cdata"

	"github.com/gpuframe/gpuframe/arrowdev"
)

func ExampleImportSchema() {
	// Another library describes a table. In this example it is arrow-go.
	var theirs cdata.CArrowSchema
	cdata.ExportArrowSchema(arrow.NewSchema([]arrow.Field{
		{Name: "symbol", Type: arrow.BinaryTypes.String},
		{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil), &theirs)

	schema, err := arrowdev.ImportSchema(unsafe.Pointer(&theirs))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(schema)
	// Output:
	// schema:
	//   fields: 2
	//     - symbol: type=utf8
	//     - price: type=float64, nullable
}
