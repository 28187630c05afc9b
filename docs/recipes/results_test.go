package recipes

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/sql"
)

func Example_several() {
	queries := []gpuframe.Query{sales().GroupBy("city").Agg(gpuframe.Count().As("n")), sales().Top(1, col("price").Desc()), sales().Filter(col("price").Lt(50))}
	rows, failures := make([]int64, len(queries)), make([]error, len(queries))
	var wait sync.WaitGroup
	for i, q := range queries {
		wait.Go(func() {
			frame, err := q.Collect(ctx)
			if err != nil {
				failures[i] = err
				return
			}
			rows[i], failures[i] = frame.NumRows(), frame.Release()
		})
	}
	wait.Wait()
	fmt.Println(rows, errors.Join(failures...))
	// Output:
	// [3 1 2] <nil>
}

func Example_histogram() {
	for _, h := range must(sales().Select("price").Histograms(ctx, 8)) {
		fmt.Printf("%s from %v in steps of %v: %s\n", h.Column, h.Begin, h.Step, h)
	}
	frame := must(sales().GroupBy("day").Agg(col("price").Sum()).Sort("day").Collect(ctx))
	defer frame.Release()
	page := must(frame.Chart().Bar("day", "price").Title("Revenue").HTML(ctx)) // for os.WriteFile
	fmt.Println(strings.Contains(page, "<svg"))
	// Output:
	// price from 20 in steps of 10: █  ▅▅ ▅▅
	// true
}

func Example_sql() {
	frame := must(sales().Filter(col("price").Gt(20)).Collect(ctx))
	defer frame.Release()
	session := sql.New(gpu)
	defer session.Close()
	session.Register("sales", frame.Query())
	show(must(session.Query(ctx, "select city, sum(price) as revenue from sales where day >= ? group by all order by revenue desc", 2)))
	// Output:
	// city,revenue
	// Bern,90
	// Oslo,80
}

func Example_dlpack() {
	frame := must(sales().Select("price").Collect(ctx))
	defer frame.Release()
	tensor := must(dlpack.Export(frame.Column("price")))
	defer tensor.Release()
	fmt.Println(frame.NumRows(), "prices")
	// Output:
	// 6 prices
}
