package sql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
)

func Example() {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	type sale struct {
		City  string
		Price float64
	}
	session := sql.New(engine)
	defer session.Close()
	session.Register("sales", gpuframe.From(engine, []sale{{"Oslo", 2}, {"Bern", 3}, {"Oslo", 5.5}}))

	query, err := session.Query(context.Background(), "select city, sum(price) as total from sales where price > ? group by all order by total desc", 2)
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range gpuframe.Rows[struct {
		City  string
		Total float64 `gpuframe:"total"`
	}](context.Background(), query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.City, row.Total)
	}
	// Output:
	// Oslo 5.5
	// Bern 3
}
