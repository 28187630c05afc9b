package parse_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

func Example() {
	statements, err := parse.Statements("from sales select region, sum(qty) as s where qty > 2 + 1 group by all")
	if err != nil {
		fmt.Println(err)
		return
	}
	query := statements[0].(*tree.Query)
	for _, item := range query.Body.(*tree.Select).Items {
		fmt.Println(parse.Format(item.Expr))
	}
	fmt.Println(parse.Format(query))

	_, err = parse.Statements("select region\nform sales where qty > 3")
	fmt.Println(err)
	// Output:
	// region
	// sum(qty)
	// select region, sum(qty) as s from sales where qty > (2 + 1) group by all
	// sql: line 2, column 1: “form” is no keyword: did you mean FROM?
	//   form sales where qty > 3
	//   ^
}
