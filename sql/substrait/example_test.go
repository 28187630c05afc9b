package substrait_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/substrait"
)

func Example() {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	type sale struct {
		City  string
		Price int64
	}
	session := sql.New(engine)
	defer session.Close()
	session.Register("sales", gpuframe.From(engine, []sale{{"Oslo", 2}, {"Bern", 3}, {"Oslo", 5}}))

	plan := []byte(`{
		"extensions": [{"extensionFunction": {"functionAnchor": 1, "name": "sum:i64"}}],
		"relations": [{"root": {"names": ["city", "total"], "input": {"aggregate": {
			"input": {"read": {"baseSchema": {"names": ["City", "Price"]}, "namedTable": {"names": ["sales"]}}},
			"groupings": [{"groupingExpressions": [{"selection": {"directReference": {"structField": {"field": 0}}}}]}],
			"measures": [{"measure": {"functionReference": 1, "outputType": {"i64": {}}, "arguments": [{"value": {"selection": {"directReference": {"structField": {"field": 1}}}}}]}}]
		}}}}]
	}`)
	query, err := substrait.Query(context.Background(), session, plan)
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range gpuframe.Rows[struct {
		City  string `gpuframe:"city"`
		Total int64  `gpuframe:"total"`
	}](context.Background(), query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.City, row.Total)
	}
	// Unordered output:
	// Oslo 7
	// Bern 3
}
