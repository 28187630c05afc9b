package nested

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// tables are orders with everything that belongs to them in one row, lines of a log, and names that people typed.
var tables = []question.Table{
	{Name: "orders", Make: makeOrders},
	{Name: "log", Make: makeLog},
	{Name: "people", Make: makePeople},
}

// line is a position of an order.
type line struct {
	Article  string  `gpuframe:"article"`
	Quantity int64   `gpuframe:"quantity"`
	Price    float64 `gpuframe:"price"`
}

type address struct {
	City string `gpuframe:"city"`
	Zip  int32  `gpuframe:"zip"`
}

type order struct {
	ID       int64    `gpuframe:"id"`
	Customer int32    `gpuframe:"customer"`
	Tags     []string `gpuframe:"tags"`
	Lines    []line   `gpuframe:"lines"`
	Scores   []int64  `gpuframe:"scores"`
	Address  address  `gpuframe:"address"`
	Keys     []string `gpuframe:"keys"`
	Values   []string `gpuframe:"values"`
	Payload  string   `gpuframe:"payload"`
	Note     *string  `gpuframe:"note"`
}

var (
	tagNames = []string{"gift", "express", "fragile", "return", "bulk", "sale", "new", "late"}
	towns    = []string{"Bergen", "Bern", "Bologna", "Bremen", "Brno", "Graz", "Lyon", "Oslo"}
	devices  = []string{"phone", "tablet", "desk"}
	words    = []string{"please", "leave", "it", "at", "the", "door", "Ring", "twice", "café", "Über", "no", "thanks", "call", "before"}
)

// makeOrders has a fifth of the rows, because each has lists.
func makeOrders(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(21, 1))
	list := make([]order, rows/5+1)
	for i := range list {
		o := &list[i]
		o.ID, o.Customer = int64(i), int32(r.IntN(1+len(list)/10))
		for range r.IntN(5) {
			o.Tags = append(o.Tags, tagNames[min(r.IntN(len(tagNames)), r.IntN(len(tagNames)))])
		}
		for range 1 + r.IntN(6) {
			o.Lines = append(o.Lines, line{fmt.Sprintf("A%03d", r.IntN(300)), int64(1 + r.IntN(9)), float64(1+r.IntN(5000)) / 4})
		}
		for range r.IntN(8) {
			o.Scores = append(o.Scores, int64(r.IntN(100)))
		}
		o.Address = address{towns[r.IntN(len(towns))], int32(1000 + r.IntN(9000))}
		o.Keys, o.Values = []string{"device", "lang"}, []string{devices[r.IntN(len(devices))], []string{"de", "en", "no"}[r.IntN(3)]}
		if r.IntN(3) == 0 {
			o.Keys, o.Values = append(o.Keys, "coupon"), append(o.Values, fmt.Sprintf("C%d", r.IntN(20)))
		}
		o.Payload = fmt.Sprintf(`{"device": {"os": "%s", "version": %d}, "total": %.2f, "steps": [%s], "ok": %t}`,
			[]string{"linux", "android", "ios"}[r.IntN(3)], 1+r.IntN(12), float64(r.IntN(100_000))/100, strings.TrimSuffix(strings.Repeat("7, ", r.IntN(4))+"1", ", "), r.IntN(4) > 0)
		if r.IntN(4) > 0 {
			var note []string
			for range 2 + r.IntN(6) {
				note = append(note, words[r.IntN(len(words))])
			}
			text := strings.Join(note, " ")
			o.Note = &text
		}
	}
	return gpuframe.From(e, list).
		With(gpuframe.MapOf(gpuframe.Col("keys"), gpuframe.Col("values")).As("attributes")).
		Drop("keys", "values")
}

type logLine struct {
	Line string `gpuframe:"line"`
}

// makeLog has lines as web servers write them.
func makeLog(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(22, 1))
	paths := []string{"/", "/items", "/items/%d", "/cart", "/search", "/static/app.js", "/user/%d/orders"}
	list := make([]logLine, rows)
	for i := range list {
		path := paths[r.IntN(len(paths))]
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, r.IntN(500))
		}
		if r.IntN(3) == 0 {
			path += fmt.Sprintf("?ref=%s&page=%d", []string{"mail", "ad", "news"}[r.IntN(3)], r.IntN(9))
		}
		status := []int{200, 200, 200, 200, 301, 404, 500}[r.IntN(7)]
		list[i].Line = fmt.Sprintf(`10.%d.%d.%d - [2024-03-%02d %02d:%02d:%02d] "%s %s" %d %d "%s"`, r.IntN(4), r.IntN(8), r.IntN(256), 1+r.IntN(31),
			r.IntN(24), r.IntN(60), r.IntN(60), []string{"GET", "GET", "POST"}[r.IntN(3)], path, status, r.IntN(100_000), []string{"Mozilla/5.0", "curl/8.1", "bot/2.3"}[r.IntN(3)])
	}
	return gpuframe.From(e, list)
}

type person struct {
	ID    int64  `gpuframe:"id"`
	Name  string `gpuframe:"name"`
	Email string `gpuframe:"email"`
}

// makePeople has a tenth of the rows.
func makePeople(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(23, 1))
	first := []string{"José", "Zoë", "Anna", "Björn", "Chloé", "Dmitri", "Eva", "Frank", "Gül", "Hélène"}
	last := []string{"Müller", "Garcia", "Smith", "Jensen", "Rossi", "Nowak", "Dubois", "Ångström"}
	list := make([]person, rows/10+20)
	for i := range list {
		name := first[r.IntN(len(first))] + " " + last[r.IntN(len(last))]
		list[i] = person{int64(i), strings.Repeat(" ", r.IntN(3)) + name, fmt.Sprintf("p%d@%s.example", i, []string{"mail", "post", "web"}[r.IntN(3)])}
		if r.IntN(4) == 0 {
			list[i].Name = strings.ToUpper(list[i].Name)
		}
	}
	return gpuframe.From(e, list)
}
