package text

import (
	"testing"
	"time"
)

// CheckTimeFormat formats a time on the host, reads it again if the format has all of it, and
// reads another text, which must not panic.
func CheckTimeFormat(t *testing.T, format string, second int64, input string) {
	list, err := timeFormat(format)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(second%(1<<37), 0).UTC()
	if at.Year() < 1970 || at.Year() > 2068 {
		return
	}
	var made []byte
	has := map[directive]bool{}
	for _, d := range list {
		made = d.append(made, at)
		has[d] = true
	}
	whole := has[yearNumber] && has[monthNumber] && has[dayOfMonth] && has[hourNumber] && has[minuteNumber] && has[secondNumber]
	if again, _, ok := parsed(string(made), list); whole && ok && !has[dayOfYear] && again != at.Unix() {
		t.Fatalf("%v as %q is %q, and that %d", at, format, made, again)
	}
	parsed(input, list)
}
