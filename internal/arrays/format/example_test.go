package format_test

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

func Example() {
	d, err := format.Describe(arrow.Field{Name: "prices", Type: arrow.ListOf(&arrow.Decimal128Type{Precision: 9, Scale: 2})})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Format, d.Children[0].Name)

	p, err := format.Parse("d:9,2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Type(nil, 0, nil))
	_, err = format.Parse("d:9,02")
	fmt.Println(err)
	// Output:
	// +l item
	// decimal(9, 2) <nil>
	// format "d:9,02": scale: "02" is not a plain number: against the Arrow C data interface
}
