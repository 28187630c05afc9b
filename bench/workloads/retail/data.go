package retail

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// tables are the tables of a shop: two channels of sales, returns, and the items, customers, stores and days of these.
var tables = []question.Table{
	{Name: "sales", Make: makeSales},
	{Name: "web", Make: makeWeb},
	{Name: "returns", Make: makeReturns},
	{Name: "items", Make: makeItems},
	{Name: "customers", Make: makeCustomers},
	{Name: "stores", Make: makeStores},
	{Name: "days", Make: makeDays},
}

// Sizes of the tables that do not grow with the sales.
const (
	storeCount = 24
	dayCount   = 1096
)

// itemCount and customerCount are the numbers of items and customers for a number of sales.
func itemCount(rows int) int     { return min(60+rows/100, 18_000) }
func customerCount(rows int) int { return 40 + rows/20 }

// firstDay is a Saturday. The years of the sales are 2022 to 2024.
var firstDay = time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)

// money is the type of amounts.
var money = &arrow.Decimal128Type{Precision: 9, Scale: 2}

type sale struct {
	Ticket   int64     `gpuframe:"ticket"`
	Day      time.Time `gpuframe:"day"`
	Store    int32     `gpuframe:"store"`
	Customer *int32    `gpuframe:"customer"`
	Item     int32     `gpuframe:"item"`
	Quantity int32     `gpuframe:"quantity"`
	Paid     float64   `gpuframe:"paid"`
	Profit   float64   `gpuframe:"profit"`
}

// amounts makes some columns of floats amounts of money, and the day a date.
func amounts(q gpuframe.Query, names ...string) gpuframe.Query {
	columns := []gpuframe.Expression{gpuframe.Col("day").Cast(arrow.FixedWidthTypes.Date32)}
	for _, name := range names {
		columns = append(columns, gpuframe.Col(name).Cast(money))
	}
	return q.With(columns...)
}

// drawSales draws sales, three on a ticket: more at the end of a year, more of some items, few without a customer.
func drawSales(rows, count int, seed uint64) []sale {
	r := rand.New(rand.NewPCG(seed, 1))
	items, customers := itemCount(rows), customerCount(rows)
	list := make([]sale, count)
	for i := range list {
		s := &list[i]
		if i%3 > 0 {
			*s = list[i-1]
		} else {
			s.Day, s.Store, s.Customer, s.Ticket = drawDay(r), int32(r.IntN(storeCount)), new(int32(r.IntN(customers))), int64(i/3)
			if r.IntN(50) == 0 {
				s.Customer = nil
			}
		}
		s.Item, s.Quantity = int32(min(r.IntN(items), r.IntN(items))), int32(1+r.IntN(20))
		s.Paid = float64(s.Quantity) * (1 + float64(s.Item%97)/2)
		s.Profit = s.Paid * (r.Float64() - 0.3)
	}
	return list
}

// drawDay draws a day, more often one of the last months of a year.
func drawDay(r *rand.Rand) time.Time {
	day := r.IntN(dayCount)
	if day%365 < 180 && r.IntN(3) == 0 {
		day = day - day%365 + 300 + r.IntN(60)
	}
	return firstDay.AddDate(0, 0, min(day, dayCount-1))
}

func makeSales(e *gpuframe.Engine, rows int) gpuframe.Query {
	return amounts(gpuframe.From(e, drawSales(rows, rows, 1)), "paid", "profit")
}

// makeWeb has half as many rows. The store is the number of a site.
func makeWeb(e *gpuframe.Engine, rows int) gpuframe.Query {
	return amounts(gpuframe.From(e, drawSales(rows, rows/2+1, 2)), "paid", "profit").Rename("store", "site")
}

type returned struct {
	Ticket   int64     `gpuframe:"ticket"`
	Item     int32     `gpuframe:"item"`
	Day      time.Time `gpuframe:"day"`
	Quantity int32     `gpuframe:"quantity"`
	Amount   float64   `gpuframe:"amount"`
}

// makeReturns returns a part of one in ten of the sales, up to two months later.
func makeReturns(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(3, 1))
	var list []returned
	for _, s := range drawSales(rows, rows, 1) {
		if r.IntN(10) == 0 {
			part := 1 + r.IntN(int(s.Quantity))
			list = append(list, returned{s.Ticket, s.Item, s.Day.AddDate(0, 0, r.IntN(60)), int32(part), s.Paid * float64(part) / float64(s.Quantity)})
		}
	}
	return amounts(gpuframe.From(e, list), "amount")
}

type item struct {
	Item     int32   `gpuframe:"item"`
	Brand    string  `gpuframe:"brand"`
	Category string  `gpuframe:"category"`
	Class    string  `gpuframe:"class"`
	Colour   *string `gpuframe:"colour"`
	Price    float64 `gpuframe:"price"`
}

var (
	categories = []string{"Books", "Children", "Electronics", "Home", "Jewelry", "Men", "Music", "Shoes", "Sports", "Women"}
	colours    = []string{"azure", "beige", "coral", "green", "ivory", "khaki", "olive", "peach", "rose", "white"}
)

func makeItems(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(4, 1))
	list := make([]item, itemCount(rows))
	for i := range list {
		category := categories[r.IntN(len(categories))]
		list[i] = item{
			Item: int32(i), Brand: fmt.Sprintf("%s brand %d", category, 1+r.IntN(8)), Category: category,
			Class: fmt.Sprintf("%s class %c", category, 'a'+rune(r.IntN(5))), Price: 1 + float64(i%97)/2,
		}
		if r.IntN(20) > 0 {
			list[i].Colour = &colours[r.IntN(len(colours))]
		}
	}
	return gpuframe.From(e, list).With(gpuframe.Col("price").Cast(money))
}

type customer struct {
	Customer int32  `gpuframe:"customer"`
	Name     string `gpuframe:"name"`
	City     string `gpuframe:"city"`
	Birth    *int32 `gpuframe:"birth"`
}

var (
	cities = []string{"Bergen", "Bern", "Bologna", "Bremen", "Brno", "Gdansk", "Graz", "Lyon", "Oslo", "Porto", "Turku", "Zadar"}
	names  = []string{"Ada", "Bo", "Carl", "Dina", "Emil", "Frida", "Gil", "Hugo", "Ida", "Jens", "Kaja", "Lars"}
)

func makeCustomers(e *gpuframe.Engine, rows int) gpuframe.Query {
	r := rand.New(rand.NewPCG(5, 1))
	list := make([]customer, customerCount(rows))
	for i := range list {
		list[i] = customer{Customer: int32(i), Name: fmt.Sprintf("%s %d", names[r.IntN(len(names))], i), City: cities[r.IntN(len(cities))]}
		if r.IntN(10) > 0 {
			list[i].Birth = new(int32(1930 + r.IntN(75)))
		}
	}
	return gpuframe.From(e, list)
}

type store struct {
	Store int32  `gpuframe:"store"`
	Name  string `gpuframe:"name"`
	City  string `gpuframe:"city"`
	Area  int32  `gpuframe:"area"`
}

func makeStores(e *gpuframe.Engine, _ int) gpuframe.Query {
	list := make([]store, storeCount)
	for i := range list {
		list[i] = store{int32(i), fmt.Sprintf("store %02d", i), cities[i*5%len(cities)], int32(300 + i*i)}
	}
	return gpuframe.From(e, list)
}

type day struct {
	Day     time.Time `gpuframe:"day"`
	Year    int32     `gpuframe:"year"`
	Quarter int32     `gpuframe:"quarter"`
	Month   int32     `gpuframe:"month"`
	Week    int32     `gpuframe:"week"`
	Weekday string    `gpuframe:"weekday"`
	Holiday bool      `gpuframe:"holiday"`
}

func makeDays(e *gpuframe.Engine, _ int) gpuframe.Query {
	list := make([]day, dayCount+60)
	for i := range list {
		t := firstDay.AddDate(0, 0, i)
		month := int32(t.Month())
		list[i] = day{t, int32(t.Year()), (month + 2) / 3, month, int32((i + 6) / 7), t.Weekday().String(), t.YearDay() == 1 || month == 12 && t.Day() > 23 && t.Day() < 27}
	}
	return amounts(gpuframe.From(e, list))
}
