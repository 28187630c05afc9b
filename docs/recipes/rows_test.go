package recipes

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

func Example_top() {
	place := gpuframe.RowNumber().Over(gpuframe.By("city").OrderBy(col("price").Desc()))
	show(sales().With(place.As("place")).Filter(col("place").Le(2)).Sort("city", "place").Select("city", "place", "product", "price"))
	// Output:
	// city,place,product,price
	// Bern,1,ink,90
	// Bern,2,tea,55
	// Oslo,1,jam,80
	// Oslo,2,tea,60
	// Rome,1,jam,20
}

func Example_latest() {
	show(sales().Sort(col("day").Desc()).Distinct("city").Select("city", "day", "product"))
	// Output:
	// city,day,product
	// Oslo,4,ink
	// Bern,3,ink
	// Rome,2,jam
}

func Example_totals() {
	show(sales().
		With(col("price").CumSum().Over(gpuframe.By("city").OrderBy("day")).As("total")).
		Select("city", "day", "price", "total").Sort("city", "day"))
	// Output:
	// city,day,price,total
	// Bern,1,55,55
	// Bern,3,90,145
	// Oslo,1,60,60
	// Oslo,2,80,140
	// Oslo,4,20,160
	// Rome,2,20,20
}

func Example_percent() {
	price := col("price")
	show(sales().
		GroupBy("city").Agg(price.Sum()).
		With(price.Div(price.Sum()).Mul(100).RoundDigits(1).As("percent")).
		Sort(price.Desc()))
	// Output:
	// city,price,percent
	// Oslo,160,49.2
	// Bern,145,44.6
	// Rome,20,6.2
}

func Example_pivot() {
	wide := must(sales().GroupBy("product").PivotAll(ctx, "city", col("price").Sum()))
	show(wide.Sort("product"))
	// Output:
	// product,Bern,Oslo,Rome
	// ink,90,20,
	// jam,,80,20
	// tea,55,60,
}

func Example_sessions() {
	type event struct {
		User string    `gpuframe:"user"`
		At   time.Time `gpuframe:"at"`
	}
	events := gpuframe.From(gpu, []event{{"ada", minute(0)}, {"bo", minute(1)}, {"ada", minute(10)}, {"ada", minute(55)}})
	at := col("at")
	session := at.Session(30 * time.Minute).Over(gpuframe.By("user").OrderBy(at))
	show(events.With(session.As("session")).
		GroupBy("user", "session").
		Agg(gpuframe.Count().As("events"), at.Max().Sub(at.Min()).TotalMinutes().As("minutes")).
		Sort("user", "session"))
	// Output:
	// user,session,events,minutes
	// ada,1,2,10
	// ada,2,1,0
	// bo,1,1,0
}

func Example_asof() {
	type trade struct {
		Symbol string    `gpuframe:"symbol"`
		At     time.Time `gpuframe:"at"`
	}
	type quote struct {
		Symbol string    `gpuframe:"symbol"`
		At     time.Time `gpuframe:"at"`
		Bid    float64   `gpuframe:"bid"`
	}
	trades := gpuframe.From(gpu, []trade{{"A", minute(5)}, {"B", minute(6)}, {"A", minute(30)}})
	quotes := gpuframe.From(gpu, []quote{{"A", minute(4), 10}, {"A", minute(8), 11}, {"B", minute(6), 20}})
	options := gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{"symbol"}, Tolerance: 10 * time.Minute}
	show(trades.AsOf(quotes, "at", options).Select("symbol", col("at").Minute().As("minute"), "bid"))
	// Output:
	// symbol,minute,bid
	// A,5,10
	// B,6,20
	// A,30,
}

func Example_within() {
	type rate struct {
		From  float64 `gpuframe:"from"`
		Until float64 `gpuframe:"until"`
		Class string  `gpuframe:"class"`
	}
	rates := gpuframe.From(gpu, []rate{{0, 50, "cheap"}, {50, 80, "usual"}})
	inRange := gpuframe.Matching(col("price").Ge(col("from")).And(col("price").Lt(col("until"))))
	show(sales().Join(rates, gpuframe.Left, inRange).Select("product", "price", "class"))
	// Output:
	// product,price,class
	// tea,60,usual
	// tea,55,usual
	// jam,80,
	// jam,20,cheap
	// ink,90,
	// ink,20,cheap
}

func Example_json() {
	type message struct{ Body string }
	messages := gpuframe.From(gpu, []message{
		{`{"user": {"name": "ada"}, "items": [{"id": 7}, {"id": 9}]}`},
		{`{"user": {"name": "bo"}, "items": []}`},
	})
	body := col("Body")
	show(messages.
		Select(body.JSONText("$.user.name").As("user"), body.JSONElements("$.items").As("item")).
		Explode("item").
		With(col("item").JSONText("$.id").Cast(arrow.PrimitiveTypes.Int64).As("item")))
	// Output:
	// user,item
	// ada,7
	// ada,9
	// bo,
}

func Example_embeddings() {
	type text struct {
		Title string
		V     [3]float32
	}
	texts := gpuframe.From(gpu, []text{{"cats", [3]float32{9, 1, 0}}, {"dogs", [3]float32{8, 3, 0}}, {"cars", [3]float32{0, 1, 7}}, {"vans", [3]float32{1, 0, 6}}})
	query := []float32{8, 2, 1}
	show(texts.Select("Title", col("V").CosineSimilarity(query).RoundDigits(3).As("similarity")).Top(2, col("similarity").Desc()))

	options := gpuframe.NearestOptions{Metric: gpuframe.Cosine}
	pairs := texts.NearestTo(texts, "V", 2, options).Filter(col("Title").Ne(col("Title_right")))
	show(pairs.Select("Title", "Title_right", col("distance").RoundDigits(3)))
	// Output:
	// Title,similarity
	// dogs,0.986
	// cats,0.984
	// Title,Title_right,distance
	// cats,dogs,0.031
	// dogs,cats,0.031
	// cars,vans,0.024
	// vans,cars,0.024
}
