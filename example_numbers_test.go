package gpuframe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe"
)

// ExampleExpr_Asin computes the length of flights over the earth by the haversine formula.
func ExampleExpr_Asin() {
	type flight struct {
		Name                   string
		Lat1, Lon1, Lat2, Lon2 float64
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	flights := []flight{{"OSL-BRN", 60.19, 11.10, 46.91, 7.50}, {"OSL-SYD", 60.19, 11.10, -33.95, 151.18}}
	radians := func(name string) gpuframe.Expr { return gpuframe.Col(name).Radians() }
	half := func(a, b string) gpuframe.Expr { return radians(b).Sub(radians(a)).Div(2).Sin().Pow(2) }
	chord := half("Lat1", "Lat2").Add(radians("Lat1").Cos().Mul(radians("Lat2").Cos()).Mul(half("Lon1", "Lon2")))
	frame, err := gpuframe.From(engine, flights).
		Select(gpuframe.Col("Name"), chord.Sqrt().Asin().Mul(2*6371).Round().As("km")).
		Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer frame.Release()
	record, err := frame.Record(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()
	for i := range int(record.NumRows()) {
		fmt.Println(record.Column(0).ValueStr(i), record.Column(1).ValueStr(i))
	}
	// Output:
	// OSL-BRN 1495
	// OSL-SYD 15924
}
