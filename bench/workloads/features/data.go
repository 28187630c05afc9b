package features

import (
	"math"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// tables are people with a label to predict, and texts with vectors of their meaning.
var tables = []question.Table{
	{Name: "people", Make: makePeople},
	{Name: "documents", Make: makeDocuments, Columns: vectors},
	{Name: "requests", Make: makeRequests, Columns: vectors},
}

// vectors gives DuckDB's vectors their fixed size.
const vectors = "* replace (embedding::float[32] as embedding)"

type person struct {
	ID     int64    `gpuframe:"id"`
	Job    string   `gpuframe:"job"`
	City   *string  `gpuframe:"city"`
	Plan   string   `gpuframe:"plan"`
	Age    *int64   `gpuframe:"age"`
	Income *float64 `gpuframe:"income"`
	Visits int64    `gpuframe:"visits"`
	X      float64  `gpuframe:"x"`
	Y      float64  `gpuframe:"y"`
	Z      float64  `gpuframe:"z"`
	Score  float64  `gpuframe:"score"`
	Label  int64    `gpuframe:"label"`
}

var (
	jobs   = []string{"baker", "clerk", "cook", "driver", "farmer", "judge", "nurse", "pilot", "smith", "tailor", "teacher", "waiter"}
	plans  = []string{"basic", "family", "free", "gold"}
	cities = []string{"Bergen", "Bern", "Bologna", "Bremen", "Brno", "Gdansk", "Graz", "Lyon", "Oslo", "Porto", "Turku", "Zadar"}
)

func makePeople(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(31, 1))
	list := make([]person, rows)
	for i := range list {
		job := min(r.IntN(len(jobs)), r.IntN(len(jobs)))
		p := person{
			ID: int64(i), Job: jobs[job], Plan: plans[r.IntN(len(plans))], Visits: int64(math.Exp(3 * r.Float64())),
			X: r.NormFloat64(), Z: r.ExpFloat64(),
		}
		p.Y = 0.6*p.X + 0.8*r.NormFloat64()
		if r.IntN(15) > 0 {
			p.City = &cities[r.IntN(len(cities))]
		}
		if r.IntN(10) > 0 {
			p.Age = new(int64(18 + r.IntN(70)))
		}
		if r.IntN(8) > 0 {
			p.Income = new(math.Round(1e5*math.Exp(0.5*r.NormFloat64()+0.05*float64(job))) / 100)
		}
		p.Score = 1 / (1 + math.Exp(-p.X-0.1*float64(job)+0.5))
		if r.Float64() < p.Score {
			p.Label = 1
		}
		list[i] = p
	}
	return gpuframe.From(e, list)
}

// dimensions is the number of elements of a vector.
const dimensions = 32

type document struct {
	ID        int64               `gpuframe:"id"`
	Topic     int64               `gpuframe:"topic"`
	Embedding [dimensions]float32 `gpuframe:"embedding"`
}

// drawDocuments draws vectors around one for each of ten topics.
func drawDocuments(count int, seed uint64) []document {
	r, centre := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(7, 1))
	var topics [10][dimensions]float32
	for i := range topics {
		for j := range topics[i] {
			topics[i][j] = float32(centre.NormFloat64())
		}
	}
	list := make([]document, count)
	for i := range list {
		list[i].ID, list[i].Topic = int64(i), int64(r.IntN(len(topics)))
		for j := range list[i].Embedding {
			list[i].Embedding[j] = topics[list[i].Topic][j] + float32(r.NormFloat64())
		}
	}
	return list
}

// makeDocuments has a twentieth of the rows.
func makeDocuments(e *gpuframe.Engine, rows int) gpuframe.Query {
	return gpuframe.From(e, drawDocuments(rows/20+50, 32))
}

func makeRequests(e *gpuframe.Engine, _ int) gpuframe.Query {
	return gpuframe.From(e, drawDocuments(20, 33))
}
