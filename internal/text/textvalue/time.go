package textvalue

import (
	"math"
	"strings"
	"time"
)

const (
	secondsOfDay  = 86_400
	nanoOfSecond  = 1_000_000_000
	dateLength    = len("2006-01-02")
	mostFractions = 9
)

// Date reads the days from 1970-01-01 to a date YYYY-MM-DD.
func Date(text string) (days int32, ok bool) {
	if len(text) != dateLength || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	year, yearOK := number(text[:4])
	month, monthOK := number(text[5:7])
	day, dayOK := number(text[8:10])
	date := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if !yearOK || !monthOK || !dayOK || month < 1 || month > 12 || date.Day() != int(day) || date.Month() != time.Month(month) {
		return 0, false
	}
	return int32(date.Unix() / secondsOfDay), true
}

// Timestamp reads YYYY-MM-DD, with a time HH:MM, HH:MM:SS or HH:MM:SS.fraction behind T or a
// space, and then Z or an offset ±HH:MM, ±HHMM or ±HH. Without an offset it is in UTC. unit is the
// number of units in a second. Digits of the fraction beyond the unit are cut off; exact reports
// that they are zeros. A timestamp that the unit cannot hold in 64 bits has no value.
func Timestamp(text string, unit int64) (value int64, exact, ok bool) {
	second, nanosecond, ok := instant(text)
	if !ok {
		return 0, false, false
	}
	nanoseconds := nanoOfSecond / unit
	value, ok = Scaled(second, nanosecond/nanoseconds, unit)
	return value, nanosecond%nanoseconds == 0, ok
}

// Scaled returns seconds and a fraction, which counts up, in a unit, and reports whether 64 bits
// hold them.
func Scaled(second, fraction, unit int64) (int64, bool) {
	if second < 0 && fraction > 0 { // the seconds alone may not fit
		second, fraction = second+1, fraction-unit
	}
	value := second * unit
	if value/unit != second || fraction > 0 && value > math.MaxInt64-fraction || fraction < 0 && value < math.MinInt64-fraction {
		return 0, false
	}
	return value + fraction, true
}

// instant reads a timestamp: seconds since 1970, and nanoseconds from 0 on.
func instant(text string) (second, nanosecond int64, ok bool) {
	if len(text) < dateLength {
		return 0, 0, false
	}
	days, ok := Date(text[:dateLength])
	second = int64(days) * secondsOfDay
	if !ok || len(text) == dateLength {
		return second, 0, ok
	}
	if text[dateLength] != 'T' && text[dateLength] != ' ' {
		return 0, 0, false
	}
	ofDay, nanosecond, rest, ok := clock(text[dateLength+1:])
	if !ok {
		return 0, 0, false
	}
	offset, ok := offsetOf(rest)
	return second + ofDay - offset, nanosecond, ok
}

// Clock reads a time of the day, HH:MM, HH:MM:SS or HH:MM:SS.fraction. unit is the number of units
// in a second. exact is that of [Timestamp].
func Clock(text string, unit int64) (value int64, exact, ok bool) {
	second, nanosecond, rest, ok := clock(text)
	nanoseconds := nanoOfSecond / unit
	return second*unit + nanosecond/nanoseconds, nanosecond%nanoseconds == 0, ok && rest == ""
}

// clock reads a time of the day and returns what follows it.
func clock(text string) (second, nanosecond int64, rest string, ok bool) {
	const shortest, withSeconds = len("15:04"), len("15:04:05")
	if len(text) < shortest || text[2] != ':' {
		return 0, 0, "", false
	}
	hour, hourOK := number(text[:2])
	minute, minuteOK := number(text[3:5])
	if !hourOK || !minuteOK || hour >= 24 || minute >= 60 {
		return 0, 0, "", false
	}
	second, rest = hour*3600+minute*60, text[shortest:]
	if len(text) < withSeconds || text[5] != ':' {
		return second, 0, rest, true
	}
	seconds, ok := number(text[6:8])
	second, rest = second+seconds, text[withSeconds:]
	if ok && seconds < 60 && strings.HasPrefix(rest, ".") {
		nanosecond, rest, ok = fraction(rest[1:])
	}
	return second, nanosecond, rest, ok && seconds < 60
}

// fraction reads the digits after the point of a second.
func fraction(text string) (nanosecond int64, rest string, ok bool) {
	places := 0
	for places < len(text) && text[places]-'0' <= 9 {
		places++
	}
	if places == 0 || places > mostFractions {
		return 0, "", false
	}
	nanosecond, ok = number((text[:places] + "00000000")[:mostFractions])
	return nanosecond, text[places:], ok
}

// offsetOf reads the end of a timestamp: Z, or an offset in hours and minutes, or nothing.
func offsetOf(text string) (int64, bool) {
	if text == "" || text == "Z" {
		return 0, true
	}
	n := len(text)
	if text[0] != '+' && text[0] != '-' || n != 3 && n != 5 && n != 6 || n == 6 && text[3] != ':' {
		return 0, false
	}
	hours, ok := number(text[1:3])
	minutes, minutesOK := int64(0), true
	if n > 3 {
		minutes, minutesOK = number(text[n-2:])
	}
	offset := hours*3600 + minutes*60
	if text[0] == '-' {
		offset = -offset
	}
	return offset, ok && minutesOK && hours < 24 && minutes < 60
}

// number reads digits.
func number(text string) (int64, bool) {
	value := int64(0)
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + int64(c-'0')
	}
	return value, true
}
