package driver_test

import (
	stdsql "database/sql"
	"fmt"
	"log"

	_ "github.com/gpuframe/gpuframe/sql/driver"
)

func Example() {
	db, err := stdsql.Open("gpuframe", "device=host")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("select city, sum(price) as total from (values ('Oslo', 3), ('Bern', 4), ('Oslo', 5)) as sales(city, price) group by city order by total")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var city string
		var total int64
		if err := rows.Scan(&city, &total); err != nil {
			log.Fatal(err)
		}
		fmt.Println(city, total)
	}
	// Output:
	// Bern 4
	// Oslo 8
}
