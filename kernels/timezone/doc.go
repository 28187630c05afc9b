// Package timezone converts timestamps between instants and the wall clocks of time zones,
// in expressions:
//
//	hour := timezone.Local(expr.Col("time"), "Europe/Oslo").Hour()
//
// A wall clock is a timestamp without a zone, so all functions of dates and times compute on
// it: parts, truncation, formats. The rules of a zone are those of Go's time.LoadLocation, as
// a table of offsets that a kernel searches. A time that a clock shows twice becomes the first
// of both instants, and times that it leaves out become the first instant after the gap. The rules after the last change by law repeat
// every 400 years, so the table ends, and later timestamps take the offset of that cycle.
package timezone
