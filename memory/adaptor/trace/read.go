package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
)

// ParseError describes a part of a log that could not be read.
type ParseError struct {
	// Line and Column are the position, both counted from 1, the column in bytes.
	// Column is zero if the error concerns the whole line.
	Line, Column int
	// Field is the name of the column, and Value its contents. Both are empty if the
	// error concerns the whole line.
	Field, Value string
	// Err is the reason.
	Err error
}

// Error names the position, the field, its value and the reason.
func (e *ParseError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("trace: line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("trace: line %d, column %d: %s %q: %v", e.Line, e.Column, e.Field, e.Value, e.Err)
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// Read returns the events of a log in order and reads the log lazily. An error is
// yielded once, with a zero Event, and ends the sequence: it is a [*ParseError] or
// wraps the error of the reader. A log without a header is an error; a log without
// events is not.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		p := parser{lines: csv.NewReader(r)}
		p.lines.ReuseRecord = true
		err := p.header()
		for err == nil {
			var event Event
			if event, err = p.event(); err == nil && !yield(event, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(Event{}, err)
		}
	}
}

const (
	threadField = iota
	timeField
	actionField
	pointerField
	sizeField
	streamField
	fieldCount
)

var fieldNames = strings.Split(Header, ",")

type parser struct {
	lines *csv.Reader
	// columns holds the position of each field in a line.
	columns [fieldCount]int
	line    []string
	last    time.Duration
}

func (p *parser) next() (err error) {
	p.line, err = p.lines.Read()
	var malformed *csv.ParseError
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.As(err, &malformed):
		return &ParseError{Line: malformed.Line, Err: malformed.Err}
	}
	return fmt.Errorf("trace: read: %w", err)
}

func (p *parser) header() error {
	err := p.next()
	if err == io.EOF {
		return &ParseError{Line: 1, Err: fmt.Errorf("there is no header; a log begins with %q", Header)}
	}
	if err != nil {
		return err
	}
	line, _ := p.lines.FieldPos(0)
	for field, name := range fieldNames {
		p.columns[field] = -1
		for column, text := range p.line {
			if strings.EqualFold(strings.TrimSpace(text), name) {
				p.columns[field] = column
			}
		}
		if p.columns[field] < 0 {
			return &ParseError{Line: line, Err: fmt.Errorf("the header has no column %s; a log begins with %q", name, Header)}
		}
	}
	return nil
}

func (p *parser) event() (Event, error) {
	if err := p.next(); err != nil {
		return Event{}, err
	}
	var e Event
	var failures [fieldCount]error
	e.Line, _ = p.lines.FieldPos(0)
	e.Thread, failures[threadField] = decimal(p.text(threadField))
	e.Time, failures[timeField] = p.time()
	e.Action, failures[actionField] = parseAction(p.text(actionField))
	e.Pointer, failures[pointerField] = hexadecimal(p.text(pointerField))
	e.Size, failures[sizeField] = decimal(p.text(sizeField))
	e.Stream, failures[streamField] = hexadecimal(p.text(streamField))
	for field, err := range failures {
		if err != nil {
			line, column := p.lines.FieldPos(p.columns[field])
			return Event{}, &ParseError{Line: line, Column: column, Field: fieldNames[field], Value: p.text(field), Err: err}
		}
	}
	return e, nil
}

func (p *parser) text(field int) string { return strings.TrimSpace(p.line[p.columns[field]]) }

func decimal(text string) (uint64, error) {
	value, err := strconv.ParseUint(text, 10, 64)
	return value, reason(err)
}

func hexadecimal(text string) (uint64, error) {
	if text == "(nil)" {
		return 0, nil
	}
	digits, prefixed := strings.CutPrefix(text, "0x")
	if !prefixed {
		digits = strings.TrimPrefix(text, "0X")
	}
	value, err := strconv.ParseUint(digits, 16, 64)
	return value, reason(err)
}

// reason removes the parts of a strconv.NumError that ParseError reports itself.
func reason(err error) error {
	if number := (*strconv.NumError)(nil); errors.As(err, &number) {
		return number.Err
	}
	return err
}

// latest is the longest time by which a line may precede an earlier one and still be
// of the same day: a thread may write its line late, and in autumn an hour occurs
// twice.
const latest = 2 * time.Hour

// time parses the time of an event. A log has no dates: a time of day much earlier
// than a previous one belongs to the next day.
func (p *parser) time() (time.Duration, error) {
	text := p.text(timeField)
	if !strings.Contains(text, ":") {
		return sinceEpoch(text)
	}
	t, err := timeOfDay(text)
	if err != nil {
		return 0, err
	}
	t += p.last / day * day
	switch {
	case p.last-t > latest:
		t += day
	case t-p.last > day-latest && t >= day:
		t -= day
	}
	p.last = max(t, p.last)
	return t, nil
}

var errTime = errors.New("a time is of the form 15:04:05.000000 or in seconds since 1970")

// timeOfDay parses hours, minutes, seconds and, after a dot or a colon, a fraction
// of a second.
func timeOfDay(text string) (time.Duration, error) {
	hours, rest, _ := strings.Cut(text, ":")
	minutes, rest, complete := strings.Cut(rest, ":")
	seconds, fraction := rest, ""
	if i := strings.IndexAny(rest, ".:"); i >= 0 {
		seconds, fraction = rest[:i], rest[i+1:]
	}
	h, errHours := strconv.ParseUint(hours, 10, 8)
	m, errMinutes := strconv.ParseUint(minutes, 10, 8)
	s, errSeconds := strconv.ParseUint(seconds, 10, 8)
	f, errFraction := parseFraction(fraction)
	if !complete || errors.Join(errHours, errMinutes, errSeconds, errFraction) != nil || h > 23 || m > 59 || s > 59 {
		return 0, errTime
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + f, nil
}

func sinceEpoch(text string) (time.Duration, error) {
	seconds, fraction, _ := strings.Cut(text, ".")
	s, errSeconds := strconv.ParseUint(seconds, 10, 33)
	f, errFraction := parseFraction(fraction)
	if errors.Join(errSeconds, errFraction) != nil {
		return 0, errTime
	}
	return time.Duration(s)*time.Second + f, nil
}

// parseFraction parses the digits after the dot, to the microsecond.
func parseFraction(digits string) (time.Duration, error) {
	if digits == "" {
		return 0, nil
	}
	const resolution = 6
	kept := min(len(digits), resolution)
	if strings.Trim(digits[kept:], "0123456789") != "" {
		return 0, errTime
	}
	value, err := strconv.ParseUint(digits[:kept], 10, 32)
	for ; kept < resolution; kept++ {
		value *= 10
	}
	return time.Duration(value) * time.Microsecond, err
}
