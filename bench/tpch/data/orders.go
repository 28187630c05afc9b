package data

import "time"

// day returns the number of days since 1970.
func day(year int, month time.Month, dayOfMonth int) int64 {
	return time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC).Unix() / 86_400
}

var (
	firstDay   = day(1992, time.January, 1)
	currentDay = day(1995, time.June, 17)
	lastDay    = day(1998, time.December, 31)
)

// order holds the values of an order that the tables of orders and lines need.
type order struct {
	key, customer, day, total int64
	status                    string
	lines                     []line
	// random continues with the other columns of the table of orders.
	random
}

// line is a line of an order, without the columns that the order does not depend on.
type line struct {
	part, supplier, quantity, price, discount, tax int64
	shipped, committed, received                   int64
	status, returned                               string
}

const (
	maximumLines = 7
	// sparse is the number of keys of which the first eight are used.
	sparse = 32
)

// order makes an order. The lines are in the given memory.
func (g *Generator) order(row int64, memory *[maximumLines]line) order {
	o := order{random: g.random(Orders, row)}
	r := &o.random
	number := row + 1
	o.key = number/8*sparse + number%8
	// Every third customer has no orders.
	with := r.below(g.customers - g.customers/3)
	o.customer = with + with/2 + 1
	o.day = r.between(firstDay, lastDay-151)
	o.lines = memory[:r.between(1, maximumLines)]
	shipped := 0
	for i := range o.lines {
		l := g.line(r, o.day)
		o.total += l.price * (100 - l.discount) / 100 * (100 + l.tax) / 100
		if l.status == "F" {
			shipped++
		}
		o.lines[i] = l
	}
	switch shipped {
	case 0:
		o.status = "O"
	case len(o.lines):
		o.status = "F"
	default:
		o.status = "P"
	}
	return o
}

func (g *Generator) line(r *random, ordered int64) line {
	l := line{
		part: r.between(1, g.parts), quantity: r.between(1, 50),
		discount: r.between(0, 10), tax: r.between(0, 8),
		shipped: ordered + r.between(1, 121), committed: ordered + r.between(30, 90),
		status: "F", returned: "N",
	}
	l.supplier = g.supplierOf(l.part, r.below(suppliersOfPart))
	l.price = l.quantity * retailPrice(l.part)
	l.received = l.shipped + r.between(1, 30)
	if l.shipped > currentDay {
		l.status = "O"
	}
	if l.received <= currentDay {
		l.returned = r.pick(returnedFlags)
	}
	return l
}

func (g *Generator) orders(row int64, to *rows) {
	var memory [maximumLines]line
	o := g.order(row, &memory)
	to.integer(o.key)
	to.integer(o.customer)
	to.text(o.status)
	to.decimal(o.total)
	to.date(o.day)
	to.text(o.pick(priorities))
	to.numbered("Clerk#", o.between(1, max(g.suppliers/10, 1)))
	to.integer(0)
	to.text(g.text.part(&o.random, 19, 78))
}

func (g *Generator) lineitem(row int64, to *rows) {
	var memory [maximumLines]line
	o := g.order(row, &memory)
	r := g.random(Lineitem, row)
	for i, l := range o.lines {
		to.integer(o.key)
		to.integer(l.part)
		to.integer(l.supplier)
		to.integer(int64(i) + 1)
		to.decimal(l.quantity * 100)
		to.decimal(l.price)
		to.decimal(l.discount)
		to.decimal(l.tax)
		to.text(l.returned)
		to.text(l.status)
		to.date(l.shipped)
		to.date(l.committed)
		to.date(l.received)
		to.text(r.pick(instructions))
		to.text(r.pick(modes))
		to.text(g.text.part(&r, 10, 43))
	}
}
