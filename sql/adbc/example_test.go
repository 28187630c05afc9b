package adbc_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe/sql/adbc"
)

func Example() {
	ctx := context.Background()
	database, err := adbc.NewDriver().NewDatabase(map[string]string{"uri": "device=host"})
	if err != nil {
		log.Fatal(err)
	}
	defer database.Close()
	connection, err := database.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	statement, err := connection.NewStatement()
	if err != nil {
		log.Fatal(err)
	}
	defer statement.Close()
	if err := statement.SetSqlQuery("select city, count(*) as sales from (values ('Oslo', 3), ('Bern', 4), ('Oslo', 5)) as sales(city, price) group by city order by city"); err != nil {
		log.Fatal(err)
	}
	reader, _, err := statement.ExecuteQuery(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Release()
	for reader.Next() {
		fmt.Println(reader.Record().Column(0), reader.Record().Column(1))
	}
	// Output: ["Bern" "Oslo"] [1 2]
}
