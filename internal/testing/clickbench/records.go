package clickbench

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	// firstDay and days are the range of dates, of July 2013, in days since 1970.
	firstDay, days = 15887, 31
	daySeconds     = 24 * 60 * 60
)

// Record returns some rows of hits, from a row on. The caller releases it.
func Record(seed uint64, from, rows int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, Schema())
	defer b.Release()
	b.Reserve(rows)
	for i, c := range columns {
		c.append(b.Field(i), seed, uint64(i), from, rows)
	}
	return b.NewRecord()
}

// append adds the values of rows to a builder. Each row has random numbers of its own.
func (c column) append(b array.Builder, seed, number uint64, from, rows int) {
	var bits rand.PCG
	for row := from; row < from+rows; row++ {
		// The columns of times share their random numbers: the date is that of the time.
		stream := number
		if c.dataType == day || c.dataType.ID() == arrow.TIMESTAMP {
			stream = math.MaxUint64
		}
		bits.Seed(seed^stream*0x9e3779b97f4a7c15, uint64(row))
		random := rand.New(&bits)
		switch b := b.(type) {
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(instant(random)))
		case *array.Date32Builder:
			b.Append(arrow.Date32(instant(random) / daySeconds))
		case *array.StringBuilder:
			b.Append(c.values.text(random))
		case *array.Int16Builder:
			b.Append(int16(c.values.number(random)))
		case *array.Int32Builder:
			b.Append(int32(c.values.number(random)))
		case *array.Int64Builder:
			b.Append(c.values.number(random))
		}
	}
}

// instant returns a second of the range of dates. There are more hits in the afternoon.
func instant(random *rand.Rand) int64 {
	at := (random.Float64() + random.Float64()) / 2
	return int64(firstDay+random.IntN(days))*daySeconds + int64(at*daySeconds)
}

// rank draws the rank of a value by the power law.
func (d distribution) rank(random *rand.Rand) uint64 {
	u := random.Float64()
	if d.skew == 0 {
		return min(uint64(u*float64(d.distinct)), d.distinct-1)
	}
	// The inverse of the continuous distribution with density x^-skew on [1, distinct+1).
	last := float64(d.distinct + 1)
	x := math.Pow(last, u)
	if d.skew != 1 {
		x = math.Pow(1+u*(math.Pow(last, 1-d.skew)-1), 1/(1-d.skew))
	}
	return min(uint64(x)-1, d.distinct-1)
}

// number draws a number.
func (d distribution) number(random *rand.Rand) int64 {
	if d.distinct == 0 || random.Float64() < d.zeros {
		return 0
	}
	rank := d.rank(random)
	switch {
	case rank < uint64(len(d.special)):
		return d.special[rank]
	case d.spread:
		return int64(mix(rank) >> 1)
	}
	return 1 + int64(rank)
}

// mix spreads a number over 64 bits: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// vocabulary has the words of texts, among them those that questions look for.
var vocabulary = strings.Fields(`google Google yandex auto market holiday winter dacha price photo video news car house garden
	tour flight ticket weather map bank credit school recipe film music game phone tablet laptop women men children
	smeshariki karelia moscow kiev minsk forum blog shop sale cheap best free online download index page search
	погода купить авто цена фото дом сад`)

// text draws a text. The same rank is the same text.
func (d distribution) text(random *rand.Rand) string {
	if d.distinct == 0 || random.Float64() < d.zeros {
		return ""
	}
	rank := d.rank(random)
	var b strings.Builder
	b.WriteString(d.prefix)
	for bits, i := mix(rank^d.distinct), 0; i < d.words; i++ {
		if i > 0 {
			b.WriteByte(" /"[min(len(d.prefix), 1)])
		}
		b.WriteString(vocabulary[bits%uint64(len(vocabulary))])
		if bits /= uint64(len(vocabulary)); i == 0 && d.prefix != "" {
			b.WriteString(".ru")
		}
	}
	if d.distinct > 100 {
		b.WriteString(" ?"[min(len(d.prefix), 1):][:1])
		b.WriteString(letters(rank))
	}
	return b.String()
}

// letters writes a number in letters.
func letters(n uint64) string {
	text := []byte{byte('a' + n%26)}
	for n /= 26; n > 0; n /= 26 {
		text = append(text, byte('a'+n%26))
	}
	return string(text)
}
