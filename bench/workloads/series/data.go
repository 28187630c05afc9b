package series

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// tables are those of an exchange, of sensors and of a web site. No two rows of a table have the same time.
var tables = []question.Table{
	{Name: "quotes", Make: makeQuotes},
	{Name: "trades", Make: makeTrades},
	{Name: "readings", Make: makeReadings},
	{Name: "outages", Make: makeOutages},
	{Name: "events", Make: makeEvents},
}

var start = time.Date(2024, time.March, 1, 0, 0, 0, 0, time.UTC)

// timestamp is the type of times: DuckDB's has microseconds and no zone too.
var timestamp = &arrow.TimestampType{Unit: arrow.Microsecond}

// timed makes columns timestamps.
func timed(q gpuframe.Query, names ...string) gpuframe.Query {
	var columns []gpuframe.Expression
	for _, name := range names {
		columns = append(columns, gpuframe.Col(name).Cast(timestamp))
	}
	return q.With(columns...)
}

// clock draws times in ascending order: n of them in a span, with gaps after some.
type clock struct {
	r    *rand.Rand
	at   time.Time
	step time.Duration
}

func newClock(r *rand.Rand, span time.Duration, n int) *clock {
	return &clock{r, start, max(span/time.Duration(n), 2*time.Microsecond)}
}

func (c *clock) next() time.Time {
	step := c.step/2 + time.Duration(c.r.Int64N(int64(c.step)))
	if c.r.IntN(500) == 0 {
		step *= 60
	}
	c.at = c.at.Add(step.Truncate(time.Microsecond))
	return c.at
}

var symbols = []string{"AXE", "BAY", "COG", "DIM", "ELM", "FIG", "GNU", "HOP"}

// walk is a price for each symbol, which moves with each time that is read.
type walk []float64

func (w walk) step(r *rand.Rand, i int) float64 {
	w[i] = math.Max(1, w[i]*(1+0.0005*r.NormFloat64()))
	return math.Round(w[i]*100) / 100
}

func newWalk() walk {
	w := make(walk, len(symbols))
	for i := range w {
		w[i] = 20 * float64(i+1)
	}
	return w
}

type quote struct {
	Time   time.Time `gpuframe:"ts"`
	Symbol string    `gpuframe:"symbol"`
	Bid    float64   `gpuframe:"bid"`
	Ask    float64   `gpuframe:"ask"`
}

func makeQuotes(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(11, 1))
	times, prices := newClock(r, 5*24*time.Hour, rows), newWalk()
	list := make([]quote, rows)
	for i := range list {
		at := r.IntN(len(symbols))
		bid := prices.step(r, at)
		list[i] = quote{times.next(), symbols[at], bid, bid + float64(1+r.IntN(5))/100}
	}
	return timed(gpuframe.From(e, list), "ts")
}

type trade struct {
	Time   time.Time `gpuframe:"ts"`
	Symbol string    `gpuframe:"symbol"`
	Price  float64   `gpuframe:"price"`
	Size   int64     `gpuframe:"size"`
}

// makeTrades has half as many trades as quotes.
func makeTrades(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(12, 1))
	times, prices := newClock(r, 5*24*time.Hour, rows/2+1), newWalk()
	list := make([]trade, rows/2+1)
	for i := range list {
		at := r.IntN(len(symbols))
		list[i] = trade{times.next(), symbols[at], prices.step(r, at), int64(1 + r.IntN(400))}
	}
	return timed(gpuframe.From(e, list), "ts")
}

const sensorCount = 20

type reading struct {
	Time   time.Time `gpuframe:"ts"`
	Sensor int32     `gpuframe:"sensor"`
	Value  *float64  `gpuframe:"value"`
}

// makeReadings has readings of 200 days, of which one in eight is missing.
func makeReadings(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(13, 1))
	times := newClock(r, 200*24*time.Hour, rows/2+1)
	list := make([]reading, rows/2+1)
	for i := range list {
		t := times.next()
		hours := t.Sub(start).Hours()
		value := 40 + 10*math.Sin(hours*math.Pi/12) + float64(r.IntN(1000))/100
		list[i] = reading{t, int32(r.IntN(sensorCount)), &value}
		if r.IntN(8) == 0 {
			list[i].Value = nil
		}
	}
	return timed(gpuframe.From(e, list), "ts")
}

type outage struct {
	Sensor int32     `gpuframe:"sensor"`
	From   time.Time `gpuframe:"since"`
	Until  time.Time `gpuframe:"until"`
}

// makeOutages has outages of up to 12 hours.
func makeOutages(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(14, 1))
	times := newClock(r, 200*24*time.Hour, rows/50+200)
	list := make([]outage, rows/50+200)
	for i := range list {
		t := times.next()
		list[i] = outage{int32(r.IntN(sensorCount)), t, t.Add(time.Duration(1+r.IntN(720)) * time.Minute)}
	}
	return timed(gpuframe.From(e, list), "since", "until")
}

type event struct {
	Time   time.Time `gpuframe:"ts"`
	User   int32     `gpuframe:"user"`
	Kind   string    `gpuframe:"kind"`
	Amount float64   `gpuframe:"amount"`
}

// makeEvents has the visits of users to a site in 60 days.
func makeEvents(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(15, 1))
	times := newClock(r, 60*24*time.Hour, rows/2+1)
	kinds := []string{"view", "view", "view", "view", "search", "cart", "buy"}
	users, user := 1+rows/100, 0
	list := make([]event, rows/2+1)
	for i := range list {
		if r.IntN(4) == 0 {
			user = r.IntN(users)
		}
		list[i] = event{times.next(), int32(user), kinds[r.IntN(len(kinds))], 0}
		if list[i].Kind == "buy" {
			list[i].Amount = float64(100+r.IntN(9900)) / 100
		}
	}
	return timed(gpuframe.From(e, list), "ts")
}
