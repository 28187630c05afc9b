// Package gpuframe is a dataframe for GPUs: lazy queries on files, Arrow records and tables in
// device memory, under a budget.
//
//	city, price := gpuframe.Of[string]("city"), gpuframe.Of[float64]("price")
//
//	gpu, err := gpuframe.Open(gpuframe.Budget(8 << 30)) // the first GPU, or the host
//	defer gpu.Close()
//	byCity, err := gpu.Records(schema, records...).
//		Filter(price.Gt(50)).
//		GroupBy(city).Agg(price.Mean().As("mean"), gpuframe.Count().As("n")).
//		Sort(gpuframe.Col("n").Desc()).
//		Collect(ctx)
//	defer byCity.Release()
//	fmt.Println(byCity)
//
// A [Query] is a sequence of verbs on the rows of a source. It does nothing until it is run:
// [Query.Collect] returns the whole result as a [Frame], [Query.Batches] yields it in parts,
// [Query.Explain] prints the plan. A [*QueryError] reports all problems of a query
// together, before anything is read.
//
// An [Expr] is an operation on columns, an aggregate, or a window. [Of] makes columns that the
// compiler checks literals for, [Col] columns of any type.
//
// # Results
//
// A query gives the same values on the host and on every GPU. Logic is that of Kleene:
// null and false is false. Integers of any signs are compared exactly. Sums that overflow
// are null. Rows keep their order, except in groups and joins. Their order is the same in
// every run, but not specified.
//
// # Layers
//
// The packages below can be used without queries: buffer loads tables from Arrow records,
// kernels/expr and the other families in kernels compute on them, dlpack and arrowdev pass
// their memory to other libraries. [Frame.Table] is the way down, [Engine.Table] the way
// back.
package gpuframe
