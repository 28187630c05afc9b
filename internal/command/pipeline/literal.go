package pipeline

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// number reads a number with a sign that begins at a byte: an integer of 64 bits, or a float.
func (p *parser) number(sign string, begin int) json.Number {
	digits := sign + p.next().value
	if whole, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return json.Number(strconv.FormatInt(whole, 10))
	}
	if whole, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return json.Number(strconv.FormatUint(whole, 10))
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) {
		p.fail(begin, "%s is no number of 64 bits", digits)
		return "0"
	}
	float := json.Number(strconv.FormatFloat(value, 'g', -1, 64))
	if !isFloat(float) {
		float += ".0"
	}
	return float
}

// isWhole reports whether a number is a signed integer of 64 bits.
func isWhole(n json.Number) bool {
	_, err := n.Int64()
	return err == nil
}

// isFloat reports whether a number is a float.
func isFloat(n json.Number) bool { return strings.ContainsAny(n.String(), ".e") }

// count reads a number of rows.
func (p *parser) count() json.Number {
	t := p.peek()
	if t.kind != number {
		p.unexpected("a number of rows")
	}
	return p.rows("", t.begin)
}

// rows reads a number of rows with a sign that begins at a byte.
func (p *parser) rows(sign string, begin int) json.Number {
	n := p.number(sign, begin)
	if !isWhole(n) {
		p.fail(begin, "%v is no number of rows", n)
	}
	return n
}

// units are the units of durations.
var units = map[string]time.Duration{
	"day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute, "second": time.Second,
	"millisecond": time.Millisecond, "microsecond": time.Microsecond, "nanosecond": time.Nanosecond,
}

// quantity reads a number, or a duration if a unit follows. The sign begins at a byte.
func (p *parser) quantity(sign string, begin int) *node {
	return p.measured(p.number(sign, begin), begin)
}

// measured is a number, or a duration if a unit follows.
func (p *parser) measured(n json.Number, begin int) *node {
	name := p.unit()
	unit, ok := units[name]
	if !ok {
		return literal(begin, n)
	}
	p.next()
	number, err := n.Int64()
	if err != nil || time.Duration(number)*unit/unit != time.Duration(number) {
		p.fail(begin, "%v is no whole number of %ss", n, name)
	}
	return literalOf(begin, "duration", json.Number(strconv.FormatInt(number*int64(unit), 10)))
}

// unit returns the next token in the singular, if it is a word.
func (p *parser) unit() string {
	if p.peek().kind != word {
		return ""
	}
	return strings.TrimSuffix(p.peek().value, "s")
}

// constant reads a literal that is not null.
func (p *parser) constant() *node {
	n := p.factor()
	if !n.calls("literal") || n.object["value"] == nil {
		p.fail(n.begin, "expected a literal")
	}
	return n
}

func (p *parser) date(begin int) *node {
	t := p.next()
	if _, err := time.Parse(time.DateOnly, t.value); err != nil {
		p.fail(t.begin, "%q is no date such as 2026-01-31", t.value)
	}
	return literalOf(begin, "date32", t.value)
}

// layouts are the layouts of timestamps. Those without a zone are in UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}

func (p *parser) timestamp(begin int) *node {
	t := p.next()
	for _, layout := range layouts {
		if instant, err := time.Parse(layout, t.value); err == nil {
			return literalOf(begin, "timestamp", instant.Format(time.RFC3339Nano))
		}
	}
	p.fail(t.begin, "%q is no timestamp such as 2026-01-31 12:30:00 or 2026-01-31T12:30:00Z", t.value)
	return literal(begin, nil)
}
