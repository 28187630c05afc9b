package data

import "strconv"

func (g *Generator) region(row int64, to *rows) {
	r := g.random(Region, row)
	to.integer(row)
	to.text(regions[row])
	to.text(g.text.part(&r, 31, 115))
}

func (g *Generator) nation(row int64, to *rows) {
	r := g.random(Nation, row)
	to.integer(row)
	to.text(nations[row].name)
	to.integer(nations[row].region)
	to.text(g.text.part(&r, 31, 114))
}

func (g *Generator) supplier(row int64, to *rows) {
	r := g.random(Supplier, row)
	nation := r.below(int64(len(nations)))
	to.integer(row + 1)
	to.numbered("Supplier#", row+1)
	to.address(&r)
	to.integer(nation)
	to.phone(&r, nation)
	to.decimal(r.between(-999_99, 9_999_99))
	comment := g.text.part(&r, 25, 100)
	if report := g.report(row); report != "" {
		comment = reported(&r, comment, report)
	}
	to.text(comment)
}

// reportRows is the number of suppliers of which one has complaints of customers, and
// another one recommendations.
const reportRows = 2000

// report returns the word that the comment on a supplier has after "Customer", or nothing.
func (g *Generator) report(row int64) string {
	block := row / reportRows
	size := min(reportRows, g.suppliers-block*reportRows)
	r := randomOf(g.seed, streamComplaints, block)
	complaints := r.below(size)
	switch row - block*reportRows {
	case complaints:
		return "Complaints"
	case (complaints + 1 + r.below(max(size-1, 1))) % size:
		return "Recommends"
	}
	return ""
}

// reported replaces two parts of a comment.
func reported(r *random, comment, report string) string {
	const customer = "Customer"
	gap := r.below(int64(len(comment)-len(customer)-len(report)) + 1)
	from := r.below(int64(len(comment)-len(customer)-len(report)) - gap + 1)
	at := from + int64(len(customer))
	return comment[:from] + customer + comment[at:at+gap] + report + comment[at+gap+int64(len(report)):]
}

func (g *Generator) customer(row int64, to *rows) {
	r := g.random(Customer, row)
	nation := r.below(int64(len(nations)))
	to.integer(row + 1)
	to.numbered("Customer#", row+1)
	to.address(&r)
	to.integer(nation)
	to.phone(&r, nation)
	to.decimal(r.between(-999_99, 9_999_99))
	to.text(r.pick(segments))
	to.text(g.text.part(&r, 29, 116))
}

func (g *Generator) part(row int64, to *rows) {
	r := g.random(Part, row)
	to.integer(row + 1)
	to.partName(&r)
	maker := strconv.FormatInt(r.between(1, 5), 10)
	to.text("Manufacturer#", maker)
	to.text("Brand#", maker, strconv.FormatInt(r.between(1, 5), 10))
	to.text(r.pick(typeSizes), " ", r.pick(typeCoatings), " ", r.pick(typeMetals))
	to.integer(r.between(1, 50))
	to.text(r.pick(boxSizes), " ", r.pick(boxKinds))
	to.decimal(retailPrice(row + 1))
	to.text(g.text.part(&r, 5, 22))
}

// retailPrice is the price of a part in hundredths.
func retailPrice(part int64) int64 { return 90_000 + part/10%20_001 + part%1_000*100 }

// partName appends five different colours.
func (t *rows) partName(r *random) {
	var chosen [5]int64
	t.scratch = t.scratch[:0]
	for i := range chosen {
	draw:
		chosen[i] = r.below(int64(len(colours)))
		for _, other := range chosen[:i] {
			if other == chosen[i] {
				goto draw
			}
		}
		if i > 0 {
			t.scratch = append(t.scratch, ' ')
		}
		t.scratch = append(t.scratch, colours[chosen[i]]...)
	}
	t.bytes()
}

// suppliersOfPart is the number of suppliers that have a part.
const suppliersOfPart = 4

// supplierOf returns one of the suppliers of a part. Below scale factor 0.01 two of
// them may be the same.
func (g *Generator) supplierOf(part, number int64) int64 {
	return (part+number*(g.suppliers/suppliersOfPart+(part-1)/g.suppliers))%g.suppliers + 1
}

func (g *Generator) partSupp(part int64, to *rows) {
	r := g.random(PartSupp, part)
	for number := range int64(suppliersOfPart) {
		to.integer(part + 1)
		to.integer(g.supplierOf(part+1, number))
		to.integer(r.between(1, 9_999))
		to.decimal(r.between(1_00, 1_000_00))
		to.text(g.text.part(&r, 49, 198))
	}
}
