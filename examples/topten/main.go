// Topten prints the ten distances with the most late flights in Parquet files.
package main

import (
	"context"
	"log"
	"os"

	"github.com/gpuframe/gpuframe"
)

func main() {
	gpu, err := gpuframe.Open() // the first GPU, or the host
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.Close()
	_, err = gpu.Parquet(os.Args[1:]...).Filter(gpuframe.Of[int]("delay").Gt(15)).
		GroupBy(gpuframe.Col("distance")).Agg(gpuframe.Count().As("late")).
		Top(10, gpuframe.Col("late").Desc()).Write(context.Background(), os.Stdout, gpuframe.CSV())
	if err != nil {
		log.Print(err)
	}
}
