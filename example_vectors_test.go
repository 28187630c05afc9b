package gpuframe_test

import (
	"github.com/gpuframe/gpuframe"
)

// document is a text with a vector of its meaning.
type document struct {
	Title     string     `gpuframe:"title"`
	Embedding [2]float32 `gpuframe:"embedding"`
}

func documents(gpu *gpuframe.Engine) gpuframe.Query {
	return gpuframe.From(gpu, []document{{"cats", [2]float32{1, 0}}, {"dogs", [2]float32{3, 4}}, {"cars", [2]float32{0, 2}}})
}

// The documents that are nearest to each question, of vectors of two numbers.
func ExampleQuery_NearestTo() {
	gpu := hostEngine()
	defer gpu.Close()
	type question struct {
		Text      string     `gpuframe:"text"`
		Embedding [2]float32 `gpuframe:"embedding"`
	}
	questions := gpuframe.From(gpu, []question{{"pets?", [2]float32{3, 1}}, {"traffic?", [2]float32{0, 1}}})
	near := questions.NearestTo(documents(gpu), "embedding", 2, gpuframe.NearestOptions{Metric: gpuframe.Cosine})
	show(near.Select("text", "title", gpuframe.Col("distance").RoundDigits(3), "rank"))
	// Output:
	// text,title,distance,rank
	// pets?,cats,0.051,1
	// pets?,dogs,0.178,2
	// traffic?,cars,0,1
	// traffic?,dogs,0.2,2
}

// Functions of two vectors take a column, or numbers that all rows have.
func ExampleExpr_Dot() {
	gpu := hostEngine()
	defer gpu.Close()
	v, other := gpuframe.Col("embedding"), []float64{3, 4}
	show(documents(gpu).Select(
		"title", v.Dot(other).As("dot"), v.CosineSimilarity(other).As("cosine"), v.L2Distance(gpuframe.Vector(0, 0)).As("far"), v.Norm().As("norm"),
	))
	// Output:
	// title,dot,cosine,far,norm
	// cats,3,0.6,1,1
	// dogs,25,1,5,5
	// cars,8,0.8,2,2
}

// The mean of vectors by group is the centroid of each.
func ExampleExpr_Mean_vectors() {
	gpu := hostEngine()
	defer gpu.Close()
	v, kind := gpuframe.Col("embedding"), gpuframe.If(gpuframe.Col("title").Eq("cars"), "things", "animals").As("kind")
	centroids := documents(gpu).GroupBy(kind).Agg(v.Mean().As("centroid"), gpuframe.Count().As("n")).Sort(gpuframe.Col("kind"))
	show(centroids.Select("kind", gpuframe.Col("centroid").ListGet(0).As("x"), gpuframe.Col("centroid").ListGet(1).As("y"), "n"))
	// Output:
	// kind,x,y,n
	// animals,2,2,2
	// things,0,2,1
}

func ExampleMetric() {
	gpu := hostEngine()
	defer gpu.Close()
	rows := documents(gpu)
	for _, metric := range []gpuframe.Metric{gpuframe.L2, gpuframe.Cosine, gpuframe.DotProduct} {
		show(rows.Head(1).NearestTo(rows, "embedding", 2, gpuframe.NearestOptions{Metric: metric}).Select("title_right", gpuframe.Col("distance").RoundDigits(3).As(metric.String())))
	}
	// Output:
	// title_right,l2
	// cats,0
	// cars,2.236
	// title_right,cosine
	// cats,0
	// dogs,0.4
	// title_right,dot
	// dogs,3
	// cats,1
}
