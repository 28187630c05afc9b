package chart

import (
	"math"
	"strconv"
	"time"
)

// scale places values on an axis.
type scale struct {
	low, high float64
	// from and to are the places of low and high.
	from, to float64
	// texts are the values of a scale of texts, by their numbers.
	texts  map[string]int
	labels []tick
}

// tick is a labelled place of an axis.
type tick struct {
	at   float64
	text string
}

// place returns the place of a number.
func (s *scale) place(value float64) float64 {
	if s.high == s.low {
		return (s.from + s.to) / 2
	}
	part := (value - s.low) / (s.high - s.low)
	if math.IsInf(s.high-s.low, 0) {
		part = (value/2 - s.low/2) / (s.high/2 - s.low/2)
	}
	return s.from + (s.to-s.from)*part
}

// band is the length of the axis that each text has.
func (s *scale) band() float64 { return math.Abs(s.to-s.from) / float64(max(len(s.texts), 1)) }

// ofText returns the place of the middle of a text.
func (s *scale) ofText(text string) float64 {
	return s.from + (s.to-s.from)*(float64(s.texts[text])+0.5)/float64(max(len(s.texts), 1))
}

// newTexts returns the scale of texts in the order of the rows.
func newTexts(v *Values, from, to float64) *scale {
	s := &scale{from: from, to: to, texts: map[string]int{}}
	for _, text := range v.Texts {
		if _, ok := s.texts[text]; !ok {
			s.texts[text] = len(s.texts)
			s.labels = append(s.labels, tick{text: text})
		}
	}
	for i := range s.labels {
		s.labels[i].at = s.ofText(s.labels[i].text)
	}
	return s
}

// newNumbers returns the scale of numbers or times from low to high. Numbers get round ends.
func newNumbers(kind Kind, low, high, from, to float64) *scale {
	s := &scale{low: low, high: high, from: from, to: to}
	if kind == Time {
		ticks := timeTicks(low, high)
		layout := timeLayout(ticks)
		for _, at := range ticks {
			s.labels = append(s.labels, tick{s.place(float64(at.UnixMilli())), at.Format(layout)})
		}
		return s
	}
	const about, most = 6, 20
	step := NiceStep(high-low, about)
	ends := [2]float64{math.Floor(low/step) * step, math.Ceil(high/step) * step}
	number := math.Round((ends[1] - ends[0]) / step)
	if !(number >= 0 && number <= most) { // the values are too close or too far apart for round ends
		span := math.Min(high-low, math.MaxFloat64)
		s.labels = []tick{{s.place(low), numberLabel(low, span)}, {s.place(high), numberLabel(high, span)}}
		return s
	}
	s.low, s.high = ends[0], ends[1]
	for i := range int(number) + 1 {
		value := s.low + float64(i)*step
		if i > 0 && value == s.low+float64(i-1)*step {
			continue // the step is below the precision of float64
		}
		s.labels = append(s.labels, tick{s.place(value), numberLabel(value, step)})
	}
	return s
}

// NiceStep returns 1, 2 or 5 times a power of ten, so that a range has about n steps.
func NiceStep(span float64, n int) float64 {
	if span <= 0 || math.IsInf(span, 0) || math.IsNaN(span) {
		return 1
	}
	rough := span / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5} {
		if rough <= factor*power {
			return factor * power
		}
	}
	return 10 * power
}

// numberLabel formats a number so that it differs from those that are a step away.
func numberLabel(value, step float64) string {
	decimals := int(-math.Floor(math.Log10(step)))
	if magnitude := math.Abs(value); magnitude >= 1e6 || magnitude != 0 && magnitude < 1e-4 {
		digits := int(math.Floor(math.Log10(magnitude))) + 1 + decimals
		return strconv.FormatFloat(value, 'g', min(max(digits, 4), 17), 64)
	}
	if value == 0 && decimals > 17 {
		return "0"
	}
	return strconv.FormatFloat(value+0, 'f', min(max(decimals, 0), 17), 64) // 0 is not -0
}

// spans are the steps of labels of times below a month.
var spans = []time.Duration{
	time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute,
	time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 2 * 24 * time.Hour, 7 * 24 * time.Hour,
}

// mostTicks is the greatest number of labels of times.
const mostTicks = 7

// timeTicks returns the labelled times of an axis, in milliseconds since 1970.
func timeTicks(low, high float64) (list []time.Time) {
	begin, end := time.UnixMilli(int64(low)).UTC(), time.UnixMilli(int64(high)).UTC()
	for _, span := range spans {
		if (high-low)/float64(span.Milliseconds()) > mostTicks {
			continue
		}
		for at := begin.Truncate(span); !at.After(end); at = at.Add(span) {
			if !at.Before(begin) {
				list = append(list, at)
			}
		}
		return list
	}
	const month = 30 * 24 * float64(time.Hour/time.Millisecond)
	months := 1
	for _, more := range []int{1, 3, 6, 12, 24, 60, 120, 600, 1200, 6000, 12000} {
		months = more
		if (high-low)/(month*float64(months)) <= mostTicks {
			break
		}
	}
	number := begin.Year()*12 + int(begin.Month()) - 1
	for number -= number % months; ; number += months {
		at := time.Date(number/12, time.Month(number%12+1), 1, 0, 0, 0, 0, time.UTC)
		if at.After(end) || len(list) > 100 {
			return list
		}
		if !at.Before(begin) {
			list = append(list, at)
		}
	}
}

// timeLayout returns the layout of labels of times. Neighbours differ in it.
func timeLayout(ticks []time.Time) string {
	if len(ticks) < 2 {
		return "2006-01-02 15:04:05"
	}
	step, oneDay := ticks[1].Sub(ticks[0]), ticks[0].Format(time.DateOnly) == ticks[len(ticks)-1].Format(time.DateOnly)
	switch {
	case step < time.Second:
		return "15:04:05.000"
	case step < time.Minute:
		return "15:04:05"
	case step < 24*time.Hour && oneDay:
		return "15:04"
	case step < 24*time.Hour:
		return "01-02 15:04"
	case step < 28*24*time.Hour:
		return time.DateOnly
	case step < 365*24*time.Hour:
		return "2006-01"
	}
	return "2006"
}
